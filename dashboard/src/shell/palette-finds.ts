// Finds of the command palette for a text.
import { innerPages, pages } from './pages-list.ts'

export interface Known {
  queues: string[]
  types: string[]
  workers: string[]
}

export interface Find {
  kind: 'job' | 'search' | 'page' | 'queue' | 'type' | 'worker'
  name: string
  hint: string
  path: string
  values?: Record<string, string>
}

/** Names of each kind. */
const SHOWN = 6
const SEARCH = /^(?:type|status|queue|stage|owner|worker|error|cause|lease|older|younger):/i

/** `isNothing`: the finds are only searches that may find something. */
export function findAll(text: string, known: Known): { finds: Find[]; isNothing: boolean } {
  const wanted = text.trim()
  const found = pagesLike(wanted)
  if (wanted === '') return { finds: found, isNothing: false }
  if (SEARCH.test(wanted)) return { finds: [searchFor(wanted)], isNothing: false }
  const finds = [
    ...found,
    ...namesLike(wanted, 'type', known.types),
    ...namesLike(wanted, 'queue', known.queues),
    ...namesLike(wanted, 'worker', known.workers),
    ...jobById(wanted),
  ]
  if (finds.length > 0) return { finds, isNothing: false }
  return { finds: ['type', 'owner'].map((key) => searchFor(`${key}:${quoted(wanted)}`)), isNothing: true }
}

function pagesLike(text: string): Find[] {
  return [...pages, ...innerPages]
    .filter(({ name }) => isLike(name, text))
    .map((page) => ({
      kind: 'page',
      name: page.name,
      hint: 'key' in page ? `g ${page.key}` : '',
      path: page.path,
    }))
}

function jobById(text: string): Find[] {
  const id = text.replace(/^why\s+/i, '')
  if (!/^[\w-]{4,}$/.test(id) || !/\d/.test(id)) return []
  return [{ kind: 'job', name: `Job ${id}`, hint: 'job', path: `/jobs/${encodeURIComponent(id)}` }]
}

function namesLike(text: string, kind: 'type' | 'queue' | 'worker', names: string[]): Find[] {
  return [...new Set(names)]
    .filter((name) => name !== '*' && isLike(name, text))
    .toSorted()
    .slice(0, SHOWN)
    .map((name) => ({ kind, name, hint: kind, path: '/jobs', values: { q: `${kind}:${quoted(name)}` } }))
}

const searchFor = (q: string): Find => ({
  kind: 'search',
  name: q,
  hint: 'search jobs',
  path: '/jobs',
  values: { q },
})

const isLike = (name: string, text: string) => name.toLowerCase().includes(text.toLowerCase())

const quoted = (name: string) => (/\s/.test(name) ? `"${name}"` : name)
