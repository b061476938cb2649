// Every check of doctor, and every queue that scan knows, is explained in the guide.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { knownQueues } from '../../../src/profile/infer/known-queues/index.ts'

const root = new URL('../../../', import.meta.url)
const guide = readFileSync(new URL('docs/guides/tables/scan-and-doctor.md', root), 'utf8')
const checks = new URL('src/doctor/checks/', root)

it('OPS-8 every check has a row in the guide', () => {
  const sources = readdirSync(checks).map((file) => readFileSync(new URL(file, checks), 'utf8'))
  const names = sources.flatMap((text) =>
    [...text.matchAll(/(?:check|CHECK) = '([^']+)'|(?:fine|warning|problem)\(\s*'([^']+)'/g)].map(
      ([, named, given]) => named ?? given ?? '',
    ),
  )
  expect(new Set(names).size).toBeGreaterThan(12)
  for (const name of new Set([...names, 'claim index', 'sweep index', 'unreadable']))
    expect(guide).toMatch(new RegExp(`^\\| \`${name}\` `, 'm'))
})

it('REAP-13 every queue that scan knows is listed with the version that was read', () => {
  for (const { name, version } of knownQueues) {
    expect(guide).toMatch(
      new RegExp(`^\\| ${name.replace(' queues', '')} +\\| ${version.replaceAll('.', '\\.')} `, 'm'),
    )
  }
})
