import type { TestProject } from 'vitest/node'
import { startNeo4j } from './neo4j-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    neo4jUrl: string
    /** Null where the server is somebody else's. */
    neo4jPid: number | null
  }
}

/** One server for all files; `UNSTUCK_TEST_NEO4J_URL` makes them use another one, where they keep to labels of their own. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const given = process.env['UNSTUCK_TEST_NEO4J_URL']
  if (given !== undefined) {
    provide('neo4jUrl', given)
    provide('neo4jPid', null)
    return async () => {}
  }
  const jars = process.env['UNSTUCK_TEST_NEO4J_JARS']
  if (jars === undefined) throw new Error('start these tests with: npm run test:neo4j')
  const server = await startNeo4j({ jars })
  provide('neo4jUrl', server.url)
  provide('neo4jPid', server.pid)
  return () => server.stop()
}
