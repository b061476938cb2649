// Arguments of the methods of an application: one clear error for each wrong one.
import { invalidArgument, requireKnownNames } from '../errors/index.ts'

export function requireOptions(method: string, options: unknown, known: readonly string[]): void {
  requireObject(`options of ${method}`, options, `an object with ${known.join(', ')}`)
  requireKnownNames(method, Object.keys(options as object), known)
}

export function requireObject(name: string, value: unknown, takes: string): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw invalidArgument(name, value, takes, { withhold: true })
}

export function requireHandler(type: unknown, handler: unknown): void {
  requireType(type)
  const { file } = (handler ?? {}) as { file?: unknown }
  if (typeof handler === 'function' || typeof file === 'string' || file instanceof URL) return
  throw invalidArgument('handler', handler, 'a function, or { file } for a module', { withhold: true })
}

export function requireBatchHandler(type: unknown, handler: unknown): void {
  requireType(type)
  if (typeof handler !== 'function')
    throw invalidArgument('handler', handler, 'a function', { withhold: true })
}

function requireType(type: unknown): void {
  if (typeof type !== 'string' || type === '') throw invalidArgument('type', type, 'a text that is not empty')
}

export function requireRecurring(name: unknown, job: unknown, options: { overlap?: unknown }): void {
  if (typeof name !== 'string' || name === '') throw invalidArgument('name', name, 'a text that is not empty')
  requireObject('job', job, 'an object with a type')
  requireOptions('recurring', options, ['timezone', 'overlap'])
  const { overlap = 'skip' } = options
  if (overlap !== 'skip' && overlap !== 'allow') throw invalidArgument('overlap', overlap, 'skip or allow')
}
