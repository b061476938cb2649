// The built dashboard: one page for every address it knows, and assets whose names change with their content. Only what was
// in the folder when it was first asked for is handed out, so no path leads anywhere else.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Api } from './api.ts'
import { ApiProblem } from './problem.ts'

/** As in dashboard/src/app.tsx. Whatever else is asked for is no page. */
const PAGE_PATHS = [
  '/',
  '/jobs',
  '/jobs/:id',
  '/dead-letters',
  '/operations',
  '/operations/:id',
  '/workers',
  '/dependencies',
  '/reaper',
  '/doctor',
  '/settings',
  '/settings/webhooks',
  '/settings/audit',
]

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

interface DashboardFiles {
  page: string
  assets: ReadonlyMap<string, { body: Uint8Array<ArrayBuffer>; type: string }>
}

/** Beside the built server; from the sources it is in the folder that a build fills. */
function findFolder(): URL | null {
  const places = ['../dashboard/', '../../dist/dashboard/'].map((path) => new URL(path, import.meta.url))
  return places.find((place) => existsSync(new URL('index.html', place))) ?? null
}

async function readFiles(): Promise<DashboardFiles | null> {
  const folder = findFolder()
  if (folder === null) return null
  const page = await readFile(new URL('index.html', folder), 'utf8')
  const assets = new URL('assets/', folder)
  const entries = await Promise.all(
    (await readdir(assets)).map(async (name) => {
      const body = new Uint8Array(await readFile(new URL(encodeURIComponent(name), assets)))
      return [name, { body, type: TYPES[extname(name)] ?? 'application/octet-stream' }] as const
    }),
  )
  return { page, assets: new Map(entries) }
}

/** The page finds its assets and the API by <base>, which is how it works under any base path. */
function withBase(page: string, basePath: string): string {
  const path = `${basePath.replace(/\/$/, '')}/`
  const escaped = path.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
  return page.replace('<base href="/" />', () => `<base href="${escaped}" />`)
}

/** Asked for before anybody has signed in: the page holds no data of its own. */
export function addDashboardRoutes(api: Api, { basePath = '' }: { basePath?: string }): void {
  let reading: Promise<DashboardFiles | null> | undefined
  const files = async () => {
    reading ??= readFiles()
    const found = await reading
    if (found !== null) return found
    // A build may come later, so the absence is not kept.
    reading = undefined
    throw new ApiProblem('NOT_FOUND', 'the dashboard is not built: see `npm run build`')
  }
  for (const path of PAGE_PATHS)
    api.get(path, async (c) =>
      c.html(withBase((await files()).page, basePath), 200, { 'cache-control': 'no-cache' }),
    )
  api.get('/assets/:name', async (c) => {
    const asset = (await files()).assets.get(c.req.param('name'))
    if (asset === undefined) throw new ApiProblem('NOT_FOUND', 'there is no such file')
    return c.body(asset.body, 200, {
      'content-type': asset.type,
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })
}
