// @ts-check
// Searches the built site as its search box does: a word that a newcomer types must find the page that explains it first.
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { boostDocument } from '../../website/search.mjs'

const website = fileURLToPath(new URL('../../website/', import.meta.url))
const chunks = `${website}dist/assets/chunks/`

/** Queries, each with the pages that may come first. */
const searches = {
  enqueue: /docs\/(?:guides\/handlers|reference\/api)/,
  priority: /docs\/(?:guides\/handlers|reference\/api)/,
  'cancel a job': /docs\/guides\/handlers\/enqueue-and-cancel/,
  'my job is stuck': /docs\/start\/my-job-is-stuck/,
}

/** @typedef {{ search: (query: string) => { id: string }[] }} Index */

const MiniSearch = /** @type {{ loadJSON: (json: string, options: object) => Index }} */ (
  createRequire(`${website}package.json`)('minisearch')
)
const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndexroot')) ?? ''
const { default: json } = /** @type {{ default: string }} */ (
  await import(pathToFileURL(`${chunks}${file}`).href)
)
// As VitePress opens it.
const index = MiniSearch.loadJSON(json, {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 }, boostDocument },
})

for (const [query, wanted] of Object.entries(searches)) {
  const [first] = index.search(query)
  if (first !== undefined && wanted.test(first.id)) continue
  console.error(`The search for "${query}" finds ${first?.id ?? 'nothing'} first.`)
  process.exitCode = 1
}
