export {
  createMemoryStore,
  /** `unstuck({ store: memory() })` */
  createMemoryStore as memory,
  type MemoryJobStore,
  type MemoryStoreOptions,
} from './memory-store.ts'
