// The types of the methods of `unstuck({ jobs })`: from the declarations, or open if there are none.
import type { PgClient } from '../compose/index.ts'
import type {
  AreOpen,
  DeclaredClaim,
  JobDeclarations,
  JobToEnqueue,
  JobType,
  PayloadInputOf,
  PayloadOf,
  ResultInputOf,
  ResultOf,
} from '../job/declared-jobs.ts'
import type { JsonValue, NewJob, NewJobFields } from '../job/job.ts'
import type { EventName, RuntimeEvents } from '../observe/events.ts'
import type { Handler, HandlerOptions } from '../runtime/attempt/handler.ts'
import type { BatchHandler, BatchOptions } from '../runtime/batch/batch-handler.ts'
import type { FileHandlerOptions } from '../runtime/child/child-handler.ts'
import type { RunOnceOptions } from '../runtime/in-place/run-once.ts'
import type { ScheduledJob } from '../store/job-store.ts'
import type { WaitOptions } from './jobs/job-waits.ts'

/** A module whose default export runs in a child process that can be killed. */
export interface FileHandler extends Omit<FileHandlerOptions, 'entryUrl'> {
  /** Path or address of the module. */
  file: string | URL
}

/** `Self` is the object of the method. */
export type HandleMethod<Jobs extends JobDeclarations, Self> =
  AreOpen<Jobs> extends true ? HandleAny<Self> : HandleDeclared<Jobs, Self>

type HandleAny<Self> = <Payload = JsonValue, Result = unknown>(
  type: string,
  handler: Handler<PgClient, Payload, Result> | FileHandler,
  options?: HandlerOptions,
) => Self

/** The handler of a declared job, for a handler in a module of its own: `HandlerOf<typeof jobs, 'mail'>`. */
export type HandlerOf<Jobs extends JobDeclarations, Type extends JobType<Jobs>> = Handler<
  PgClient,
  PayloadOf<Jobs, Type>,
  ResultInputOf<Jobs, Type>,
  Type
>

type HandleDeclared<Jobs extends JobDeclarations, Self> = <Type extends JobType<Jobs>>(
  type: Type,
  handler: HandlerOf<Jobs, Type> | FileHandler,
  options?: HandlerOptions,
) => Self

export type HandleManyMethod<Jobs extends JobDeclarations, Self> =
  AreOpen<Jobs> extends true ? HandleManyAny<Self> : HandleManyDeclared<Jobs, Self>

type HandleManyAny<Self> = <Payload = JsonValue, Result = unknown>(
  type: string,
  handler: BatchHandler<PgClient, Payload, Result>,
  options: BatchOptions,
) => Self

/** The handler of many declared jobs at once: `BatchHandlerOf<typeof jobs, 'mail'>`. */
export type BatchHandlerOf<Jobs extends JobDeclarations, Type extends JobType<Jobs>> = BatchHandler<
  PgClient,
  PayloadOf<Jobs, Type>,
  ResultInputOf<Jobs, Type>,
  Type
>

type HandleManyDeclared<Jobs extends JobDeclarations, Self> = <Type extends JobType<Jobs>>(
  type: Type,
  handler: BatchHandlerOf<Jobs, Type>,
  options: BatchOptions,
) => Self

export type WaitForMethod<Jobs extends JobDeclarations> =
  AreOpen<Jobs> extends true ? WaitForAny : WaitForDeclared<Jobs>

/** The result as it is stored. */
type WaitForAny = <Result = JsonValue>(jobId: string, options?: WaitOptions) => Promise<Result>

/** The result as its schema makes it: of the type that the options name, else of any declared one. */
interface WaitForDeclared<Jobs extends JobDeclarations> {
  <const Type extends JobType<Jobs>>(
    jobId: string,
    options: WaitOptions & { type: Type },
  ): Promise<ResultOf<Jobs, Type>>
  (jobId: string, options?: Omit<WaitOptions, 'type'>): Promise<ResultOf<Jobs, JobType<Jobs>>>
}

export type EnqueueAndWaitMethod<Jobs extends JobDeclarations> =
  AreOpen<Jobs> extends true
    ? <Result = JsonValue>(job: NewJob, options?: Omit<WaitOptions, 'type'>) => Promise<Result>
    : <Type extends JobType<Jobs>>(
        job: JobToEnqueue<Jobs, Type> & { type: Type },
        options?: Omit<WaitOptions, 'type'>,
      ) => Promise<ResultOf<Jobs, Type>>

/** The job of a schedule, which decides when it runs. */
export type JobToSchedule<Jobs extends JobDeclarations> =
  AreOpen<Jobs> extends true
    ? ScheduledJob
    : JobToEnqueue<
        Jobs,
        JobType<Jobs>,
        Omit<NewJobFields, 'delayMs' | 'runAt' | 'dedupeKey' | 'dedupe' | 'expiresAt'>
      >

type DeclaredField<Jobs extends JobDeclarations, Name extends EventName, Field> = Field extends 'job'
  ? DeclaredClaim<Jobs>
  : Field extends 'type'
    ? JobType<Jobs>
    : RuntimeEvents[Name][Field & keyof RuntimeEvents[Name]]

/** Fields of an event; `job` and `type` are those of the declared jobs. */
export type EventFields<Jobs extends JobDeclarations, Name extends EventName> =
  AreOpen<Jobs> extends true
    ? RuntimeEvents[Name]
    : { [Field in keyof RuntimeEvents[Name]]: DeclaredField<Jobs, Name, Field> }

/** The payload may be left out if the job is declared without one. */
type PayloadAndOptions<Payload> = undefined extends Payload
  ? [payload?: Payload, options?: RunOnceOptions]
  : [payload: Payload, options?: RunOnceOptions]

export type RunOnceMethod<Jobs extends JobDeclarations> =
  AreOpen<Jobs> extends true
    ? (type: string, payload?: unknown, options?: RunOnceOptions) => Promise<JsonValue | undefined>
    : <Type extends JobType<Jobs>>(
        type: Type,
        ...payloadAndOptions: PayloadAndOptions<PayloadInputOf<Jobs, Type>>
      ) => Promise<ResultOf<Jobs, Type>>
