export { createMemoryStore, type MemoryJobStore, type MemoryStoreOptions } from './memory-store.ts'
