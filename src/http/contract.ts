// The HTTP contract: zod schemas, the types of them, and from them OpenAPI 3.1. Names on the wire are snake_case, times RFC
// 3339 in UTC, 64-bit numbers text. Additive within /v1: fields are added, none changes its meaning.
export * from './contract/audit.ts'
export * from './contract/base.ts'
export * from './contract/job.ts'
export * from './contract/lease.ts'
export * from './contract/operator.ts'
export * from './contract/rate-limit.ts'
export * from './contract/rescue.ts'
export * from './contract/server.ts'
export * from './contract/webhook.ts'
export * from './contract/worker.ts'
