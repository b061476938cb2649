// The benchmark names how long some peers take to rescue a job instead of waiting for hours. What it says was read in the
// sources of one version: read them again before you change it.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const { dependencies } = JSON.parse(read('bench/package.json')) as { dependencies: Record<string, string> }

it.each([
  ['pg-boss', 'bench/contenders/pg-boss/pg-boss-application.mjs'],
  ['graphile-worker', 'bench/contenders/graphile-worker/graphile.mjs'],
])('the rescue time of %s is that of the installed version', (peer, file) => {
  expect(read(file)).toContain(`rescue: '${peer} ${dependencies[peer] ?? 'of no version'}: `)
})

it('the rescue time of River is that of the module', () => {
  const version = /riverqueue\/river v(\S+)/.exec(read('bench/contenders/river/go.mod'))?.[1]
  expect(read('bench/contenders/river/river.mjs')).toContain(`rescue: 'River ${version}: `)
})
