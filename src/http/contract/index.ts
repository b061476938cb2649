// The HTTP contract: zod schemas, their types, and OpenAPI 3.1 from them. Fields are snake_case, times RFC 3339 in UTC,
// 64-bit numbers strings. /v1 is additive: fields are added, none changes its meaning.
export * from './audit.ts'
export * from './base.ts'
export * from './job.ts'
export * from './lease.ts'
export * from './operator.ts'
export * from './rate-limit.ts'
export * from './rescue.ts'
export * from './server.ts'
export * from './trend.ts'
export * from './webhook.ts'
export * from './worker.ts'
