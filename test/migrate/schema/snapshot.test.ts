// Catches a change of the schema whose snapshot was not written anew.
import { expect, it } from 'vitest'
import { describeFreshInstall, readSnapshot } from '../describe.ts'

const outdated =
  'sql/schema.snapshot.sql: write it anew with node scripts/schema-snapshot.mjs, and review what changed'

it('OPS-7 a fresh install is what the snapshot says', async () => {
  expect({ outdated, lines: await describeFreshInstall() }).toEqual({ outdated, lines: readSnapshot() })
})
