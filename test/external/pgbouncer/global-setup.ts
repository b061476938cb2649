import type { TestProject } from 'vitest/node'
import { setup as startServer, teardown as stopServer } from '../../support/vitest/global-setup.ts'
import { type PgBouncer, startPgBouncer } from './pgbouncer.ts'

declare module 'vitest' {
  interface ProvidedContext {
    pgBouncerPort: number
  }
}

let pgBouncer: PgBouncer | undefined

export async function setup(project: TestProject): Promise<void> {
  await startServer(project)
  pgBouncer = await startPgBouncer(project.getProvidedContext().databaseUrl)
  project.provide('pgBouncerPort', pgBouncer.port)
}

export async function teardown(): Promise<void> {
  await pgBouncer?.stop()
  await stopServer()
}
