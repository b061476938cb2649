// Vitest ignores a path that matches no file as long as another one does: a suite would silently lose a test that was moved.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const inFolder = (folder: string) => readdirSync(`${root}${folder}`).map((name) => `${folder}/${name}`)
const sources = [
  'package.json',
  '.ci/run',
  'knip.json',
  'test/support/vitest/suites.ts',
  ...inFolder('scripts/test'),
  ...inFolder('mutants/src'),
]
const PATH = /(?<![\w/.-])test\/[\w/.*{},-]*\w/g

/** `a/{b,c}.ts` as `a/b.ts` and `a/c.ts`. */
function expand(path: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(path)
  if (braces === null) return [path]
  return (braces[1] ?? '').split(',').flatMap((name) => expand(path.replace(braces[0], name)))
}

/** Everything before the first wildcard. */
const fixedPart = (path: string) => (path.includes('*') ? path.slice(0, path.indexOf('*')) : path)

it.each(sources)('every test that %s names exists', (source) => {
  const named = readFileSync(`${root}${source}`, 'utf8').match(PATH) ?? []
  const missing = named.flatMap(expand).filter((path) => {
    const fixed = fixedPart(path)
    return !existsSync(root + (fixed === path ? path : fixed.slice(0, fixed.lastIndexOf('/'))))
  })
  expect(missing).toEqual([])
})
