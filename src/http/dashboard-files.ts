// The built dashboard: one page for all its addresses, and assets with hashed names. Only files that existed at the first
// request are served, so no path can escape the folder.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Api } from './api.ts'
import { ApiProblem } from './problem.ts'

/** As in dashboard/src/app.tsx. */
const PAGE_PATHS = [
  '/',
  '/jobs',
  '/jobs/:id',
  '/queues',
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

/** Beside the built server, or in dist if run from the sources. */
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

/** The page finds its assets and the API by <base>, under any base path. */
function withBase(page: string, basePath: string): string {
  const path = `${basePath.replace(/\/$/, '')}/`
  const escaped = path.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
  return page.replace('<base href="/" />', () => `<base href="${escaped}" />`)
}

/** Served without authentication: the page contains no data. */
export function addDashboardRoutes(api: Api, { basePath = '' }: { basePath?: string }): void {
  let reading: Promise<DashboardFiles | null> | undefined
  const files = async () => {
    reading ??= readFiles()
    const found = await reading
    if (found !== null) return found
    // Not cached: a build may come later.
    reading = undefined
    throw new ApiProblem('NOT_FOUND', 'the dashboard is not built: run `npm run build`')
  }
  for (const path of PAGE_PATHS)
    api.get(path, async (c) =>
      c.html(withBase((await files()).page, basePath), 200, { 'cache-control': 'no-cache' }),
    )
  api.get('/assets/:name', async (c) => {
    const asset = (await files()).assets.get(c.req.param('name'))
    if (asset === undefined) throw new ApiProblem('NOT_FOUND', 'no such file')
    return c.body(asset.body, 200, {
      'content-type': asset.type,
      'cache-control': 'public, max-age=31536000, immutable',
    })
  })
}
