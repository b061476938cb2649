// The HTTP contract: zod schemas, the types of them, and from them OpenAPI 3.1. Names on the wire are snake_case, times RFC
// 3339 in UTC, 64-bit numbers text. Additive within /v1: fields are added, none changes its meaning.
export * from './audit.ts'
export * from './base.ts'
export * from './job.ts'
export * from './lease.ts'
export * from './operator.ts'
export * from './rate-limit.ts'
export * from './rescue.ts'
export * from './server.ts'
export * from './webhook.ts'
export * from './worker.ts'
