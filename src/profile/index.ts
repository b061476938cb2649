// `unstuck/profiles`: the tables of the source documents. The native profile is exported by the package itself.
export { clipProfile } from './clip.ts'
export { converterProfile } from './converter.ts'
export { embeddingProfile } from './embedding.ts'
export { executorProfile } from './executor.ts'
