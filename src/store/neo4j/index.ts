export {
  checkNeo4j,
  type InstallOptions,
  installNeo4j,
  type Neo4jStatus,
  readNeo4jStatus,
  removeNeo4j,
} from './install.ts'
export { createNeo4jStore, type Neo4jStoreOptions } from './neo4j-store.ts'
export {
  type Neo4jJobStore,
  type OpenNeo4j,
  type OpenNeo4jOptions,
  openDriver,
  openNeo4j,
  openNeo4jStore,
} from './open-neo4j-store.ts'
export { readGraphFacts } from './read-graph-facts.ts'
export type { NodeNotice } from './state/node-notice.ts'
