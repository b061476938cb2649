// @ts-check
// Makes a release of the changesets in .changeset: one version for the three packages, and a section of CHANGELOG.md. Changesets' own
// command does not take the root of a workspace for a package, so its parts are used and the packages listed here.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import applyReleasePlan from '@changesets/apply-release-plan'
import assembleReleasePlan from '@changesets/assemble-release-plan'
import readChangesets from '@changesets/read'
import { isRunAsCommand } from './problems.mjs'

/** @typedef {Parameters<typeof assembleReleasePlan>[1]} Packages */
/** @typedef {NonNullable<Parameters<typeof applyReleasePlan>[2]>} Config */
/** @typedef {Packages['packages'][number]} Package */
/** @typedef {{ version: string, packages: Record<string, object> }} Lockfile */
/** @typedef {{ heading: string, text: string }} Entry */

const FOLDERS = ['', 'dashboard', 'embedded']
const HEADINGS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
const UNRELEASED = '## [Unreleased]\n'

/**
 * @param {string} root
 * @param {{ isDryRun: boolean, today: string }} options
 * @returns {Promise<string>} what was done, or would be
 */
export async function makeRelease(root, { isDryRun, today }) {
  const changesets = await readChangesets(root)
  if (changesets.length === 0) return 'No changesets: nothing to release.\n'
  const config = /** @type {Config} */ (readJson(root, '.changeset/config.json'))
  const packages = listPackages(root)
  const plan = assembleReleasePlan(changesets, withoutPeers(packages), config, undefined)
  const version = plan.releases.find(({ name }) => name === packages.root.packageJson.name)?.newVersion
  if (version === undefined) throw new Error('The changesets make no release')

  const file = join(root, 'CHANGELOG.md')
  const section = renderSection(
    `## [${version}] - ${today}`,
    readFileSync(file, 'utf8'),
    changesets.map(toEntry),
  )
  if (isDryRun) return section.text
  writeFileSync(file, section.changelog)
  await applyReleasePlan(plan, packages, config)
  lockVersion(root, version)
  return `CHANGELOG.md, package-lock.json and ${FOLDERS.length} × package.json have ${version}.\n`
}

/**
 * @param {string} root
 * @returns {Packages}
 */
function listPackages(root) {
  const packages = FOLDERS.map((folder) => ({
    dir: join(root, folder),
    packageJson: /** @type {Package['packageJson']} */ (readJson(root, join(folder, 'package.json'))),
  }))
  return { tool: 'root', root: /** @type {Package} */ (packages[0]), packages }
}

/**
 * A new version of a peer would make the next version a major one. Ours is a pin among packages that are released together.
 * @param {Packages} packages
 * @returns {Packages}
 */
function withoutPeers({ packages, ...rest }) {
  const bare = packages.map(({ dir, packageJson }) => ({
    dir,
    packageJson: { ...packageJson, peerDependencies: {} },
  }))
  return { ...rest, packages: bare }
}

/**
 * @param {{ id: string, summary: string }} changeset
 * @returns {Entry}
 */
function toEntry({ id, summary }) {
  const [, heading = '', text = ''] = /^(\w+): (.+)$/s.exec(summary.trim()) ?? []
  if (!HEADINGS.includes(heading))
    throw new Error(`.changeset/${id}.md has to begin with one of ${HEADINGS.join(', ')} and a colon`)
  return { heading, text: `- ${text.replace(/\n(?=.)/g, '\n  ')}` }
}

/**
 * What was written under Unreleased by hand goes along.
 * @param {string} title
 * @param {string} changelog
 * @param {Entry[]} entries
 */
function renderSection(title, changelog, entries) {
  const start = changelog.indexOf(UNRELEASED)
  if (start === -1) throw new Error(`CHANGELOG.md has no line "${UNRELEASED.trim()}"`)
  const rest = changelog.slice(start + UNRELEASED.length)
  const end = rest.search(/^## |^\[[^\]]+\]: /m)
  const [unreleased, older] = end === -1 ? [rest, ''] : [rest.slice(0, end), rest.slice(end)]

  const [introduction = '', ...parts] = unreleased.split(/^### /m)
  /** @type {Map<string, string[]>} */
  const byHeading = new Map(HEADINGS.map((heading) => [heading, []]))
  const add = (/** @type {string} */ heading, /** @type {string} */ text) =>
    byHeading.set(heading, [...(byHeading.get(heading) ?? []), text])
  for (const part of parts) {
    const [heading = '', ...lines] = part.split('\n')
    add(heading.trim(), lines.join('\n').trim())
  }
  for (const { heading, text } of entries) add(heading, text)

  const blocks = [...byHeading].flatMap(([heading, texts]) =>
    texts.length === 0 ? [] : [`### ${heading}`, texts.join('\n')],
  )
  const text = `${[title, introduction.trim(), ...blocks].filter((block) => block !== '').join('\n\n')}\n`
  const before = changelog.slice(0, start) + UNRELEASED
  return { text, changelog: [`${before}\n${text}`, older].filter((part) => part !== '').join('\n') }
}

/**
 * As `npm install` would, without asking anybody.
 * @param {string} root
 * @param {string} version
 */
function lockVersion(root, version) {
  const lock = /** @type {Lockfile} */ (readJson(root, 'package-lock.json'))
  lock.version = version
  for (const folder of FOLDERS) {
    const { peerDependencies } = /** @type {Package['packageJson']} */ (
      readJson(root, join(folder, 'package.json'))
    )
    lock.packages[folder] = {
      ...lock.packages[folder],
      version,
      ...(peerDependencies && { peerDependencies }),
    }
  }
  writeFileSync(join(root, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`)
}

/**
 * @param {string} root
 * @param {string} path
 * @returns {unknown}
 */
function readJson(root, path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

if (isRunAsCommand(import.meta.url)) {
  const options = {
    isDryRun: process.argv.includes('--dry-run'),
    today: new Date().toISOString().slice(0, 10),
  }
  process.stdout.write(await makeRelease(process.cwd(), options))
}
