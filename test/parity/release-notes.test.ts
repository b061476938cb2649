// The release of a copy of this repository's manifests, changelog and configuration.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { makeTree, scriptUrl } from './fixture-tree.ts'

// Each test starts a process, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const root = new URL('../../', import.meta.url)
const manifests = ['package.json', 'dashboard/package.json', 'embedded/package.json']
const copied = [...manifests, 'package-lock.json', 'CHANGELOG.md', '.changeset/config.json']

const changelog = `# Changelog

What this is.

## [Unreleased]

### Changed

- Written by hand.

## [0.0.1] - 2026-01-01

### Added

- The beginning.
`

function copyRepository(changes: Record<string, string>): string {
  const files = copied.map((path) => [path, readFileSync(new URL(path, root), 'utf8')] as const)
  return makeTree({ ...Object.fromEntries(files), ...changes })
}

function release(cwd: string, ...args: string[]) {
  const script = fileURLToPath(scriptUrl('release-notes'))
  return spawnSync(process.execPath, [script, ...args], { cwd, encoding: 'utf8' })
}

const changeset = (bump: string, text: string) => `---\n'unstuck': ${bump}\n---\n\n${text}\n`
const read = (tree: string, path: string) => readFileSync(join(tree, path), 'utf8')
const readManifest = (tree: string, path: string) =>
  JSON.parse(read(tree, path)) as { version: string; peerDependencies?: Record<string, string> }
const today = () => new Date().toISOString().slice(0, 10)

it('a minor change gives the three packages one minor version, in the lockfile too', () => {
  const tree = copyRepository({ '.changeset/a.md': changeset('minor', 'Added: A thing.') })
  const before = readManifest(tree, 'package.json').version
  const [major = '', minor = ''] = before.split('.')
  const next = `${major}.${Number(minor) + 1}.0`
  expect(release(tree)).toMatchObject({ status: 0, stderr: '' })

  expect(manifests.map((path) => readManifest(tree, path).version)).toEqual([next, next, next])
  expect(readManifest(tree, 'package.json').peerDependencies?.['@unstuck/embedded']).toBe(next)
  const unchanged = readFileSync(new URL('package.json', root), 'utf8')
  expect(read(tree, 'package.json')).toBe(unchanged.replaceAll(`"${before}"`, `"${next}"`))
  const { packages } = JSON.parse(read(tree, 'package-lock.json')) as { packages: Record<string, unknown> }
  const pinned = { version: next, peerDependencies: { '@unstuck/embedded': next } }
  expect(packages).toMatchObject({ '': pinned, dashboard: { version: next }, embedded: { version: next } })
  expect(existsSync(join(tree, '.changeset/a.md'))).toBe(false)
})

it('a section of the changelog has what was written by hand and the changesets under their headings', () => {
  const tree = copyRepository({
    'CHANGELOG.md': changelog,
    '.changeset/a.md': changeset('patch', 'Fixed: One thing,\nin two lines.'),
    '.changeset/b.md': changeset('patch', 'Changed: Another: with a colon.'),
  })
  expect(release(tree).status).toBe(0)
  const { version } = readManifest(tree, 'package.json')
  expect(read(tree, 'CHANGELOG.md')).toBe(
    changelog.replace(
      '## [Unreleased]\n\n### Changed\n\n- Written by hand.\n',
      `## [Unreleased]

## [${version}] - ${today()}

### Changed

- Written by hand.
- Another: with a colon.

### Fixed

- One thing,
  in two lines.
`,
    ),
  )
})

it('a dry run prints the section and writes nothing', () => {
  const tree = copyRepository({ '.changeset/a.md': changeset('patch', 'Fixed: A thing.') })
  const { stdout } = release(tree, '--dry-run')
  expect(stdout).toMatch(/^## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d\n/)
  expect(stdout).toContain('### Fixed\n\n- A thing.\n')
  for (const path of copied) expect(read(tree, path)).toBe(readFileSync(new URL(path, root), 'utf8'))
  expect(existsSync(join(tree, '.changeset/a.md'))).toBe(true)
})

it('a changeset without a heading is refused by its name, before anything is written', () => {
  const tree = copyRepository({ '.changeset/odd.md': changeset('minor', 'A thing.') })
  const { status, stderr } = release(tree)
  expect(status).not.toBe(0)
  expect(stderr).toContain('.changeset/odd.md has to begin with one of Added,')
  for (const path of copied) expect(read(tree, path)).toBe(readFileSync(new URL(path, root), 'utf8'))
})

it('without changesets there is nothing to release', () => {
  expect(release(copyRepository({})).stdout).toBe('No changesets: nothing to release.\n')
})

it('the changesets of this repository make a release', () => {
  expect(release(fileURLToPath(root), '--dry-run')).toMatchObject({ status: 0, stderr: '' })
})
