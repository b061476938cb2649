// A migration session in one read-only transaction, which verifies at its end that it wrote nothing.
import { withReadOnlySession } from '../../connection/read-only-session.ts'
import { render } from '../../render/render.ts'
import { readQuery } from '../../sql-queries.ts'
import type { MigrationSession } from './migration-session.ts'

const TIMEOUT_MS = 10_000

export function withReadingSession<T>(
  databaseUrl: string,
  work: (session: MigrationSession) => Promise<T>,
): Promise<T> {
  const options = { databaseUrl, applicationName: 'unstuck attach', timeoutMs: TIMEOUT_MS }
  return withReadOnlySession(options, (readOnly) =>
    readOnly.look((run) =>
      work({
        run,
        query: (name, rendering, params) => run(render(readQuery(name), rendering), params ?? []),
        transaction: (inside) => inside(),
        inTeamsPath: (inside) => inside(),
      }),
    ),
  )
}
