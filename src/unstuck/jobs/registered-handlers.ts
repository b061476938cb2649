import type { PgClient } from '../../compose/index.ts'
import { invalidArgument } from '../../errors/index.ts'
import type { Handler, HandlerOptions, RegisteredHandler } from '../../runtime/attempt/handler.ts'
import type { BatchHandler, BatchOptions } from '../../runtime/batch/batch-handler.ts'
import { JobBatches } from '../../runtime/batch/job-batches.ts'
import { requireBatchHandler, requireHandler } from '../check-arguments.ts'
import { checkBatchOptions, checkHandlerOptions, type UnstuckOptions } from '../options.ts'
import type { FileHandler } from '../typed-methods.ts'
import { childHandlerOf } from './child-handler-of.ts'
import type { JobSchemas } from './job-schemas.ts'

/** Handlers by type, as `handle` and `handleMany` register them. */
export class RegisteredHandlers {
  readonly #byType = new Map<string, RegisteredHandler<PgClient>>()
  readonly #options: UnstuckOptions
  readonly #schemas: JobSchemas
  /** How many jobs the worker runs at once. */
  readonly #slots: number

  constructor(options: UnstuckOptions, schemas: JobSchemas, slots: number) {
    this.#options = options
    this.#schemas = schemas
    this.#slots = slots
  }

  get all(): RegisteredHandler<PgClient>[] {
    return [...this.#byType.values()]
  }

  add<Payload, Result>(
    type: string,
    given: Handler<PgClient, Payload, Result> | FileHandler,
    options: HandlerOptions,
  ): void {
    requireHandler(type, given)
    this.#requireFree(type)
    checkHandlerOptions('handle', type, options)
    const isFile = typeof given !== 'function'
    const run = isFile ? childHandlerOf(given, this.#options) : (given as Handler<PgClient>)
    this.#byType.set(type, { ...options, type, handler: this.#schemas.guard(type, run, { isFile }) })
  }

  addMany<Payload, Result>(
    type: string,
    given: BatchHandler<PgClient, Payload, Result>,
    options: BatchOptions,
  ): void {
    requireBatchHandler(type, given)
    this.#requireFree(type)
    checkBatchOptions(type, options, this.#slots)
    const { size, waitMs, ...handlerOptions } = options
    const batches = new JobBatches({
      size,
      waitMs,
      work: given as unknown as BatchHandler<PgClient>,
      readPayload: (job) => this.#schemas.readPayload(job),
    })
    const handler = this.#schemas.guardResult(type, batches.handler)
    this.#byType.set(type, { ...handlerOptions, type, handler, batches })
  }

  #requireFree(type: string): void {
    if (this.#byType.has(type)) throw invalidArgument('type', type, 'a type that has no handler yet')
    this.#schemas.requireDeclared(type)
  }
}
