import { describe, expect, it } from 'vitest'
import type { ApiEnv } from '../../../src/http/api.ts'
import { addDashboardRoutes } from '../../../src/http/dashboard-files.ts'
import { OpenAPIHono } from '../../../src/http/openapi/zod-openapi.ts'
import { problemResponse, toApiProblem } from '../../../src/http/problem.ts'

function dashboard(basePath = '') {
  const app = new OpenAPIHono<ApiEnv>()
  app.onError((error) => problemResponse(toApiProblem(error)))
  addDashboardRoutes(basePath === '' ? app : app.basePath(basePath), { basePath })
  return (path: string) => app.request(path)
}

async function assetOf(get: (path: string) => Response | Promise<Response>): Promise<string> {
  const page = await (await get('/')).text()
  const [, name = ''] = /src="\.\/(assets\/[^"]+\.js)"/.exec(page) ?? []
  return `/${name}`
}

describe('the files of the dashboard', () => {
  it('SEE-5 every page is the one page, which is asked for anew', async () => {
    const get = dashboard()
    for (const path of [
      '/',
      '/jobs',
      '/jobs/0198c1d4',
      '/dead-letters',
      '/operations/0198',
      '/settings/audit',
    ]) {
      const response = await get(path)
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache'])
      expect(await response.text()).toContain('<base href="/" />')
    }
  })

  it('SEE-5 assets are kept for ever, because their names change with their content', async () => {
    const get = dashboard()
    const response = await get(await assetOf(get))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(response.headers.get('cache-control')).toContain('immutable')
  })

  it('SEE-5 the base path is written into the page, and cannot leave its attribute', async () => {
    expect(await (await dashboard('/ops')('/ops/jobs')).text()).toContain('<base href="/ops/" />')
    const app = new OpenAPIHono<ApiEnv>()
    addDashboardRoutes(app, { basePath: '/"><script>' })
    expect(await (await app.request('/')).text()).toContain('<base href="/&#34;&#62;&#60;script&#62;/" />')
  })

  it.each([
    '/assets/../index.html',
    '/assets/..%2findex.html',
    '/assets/%2e%2e%2f%2e%2e%2fpackage.json',
    '/assets/..%5c..%5cpackage.json',
    '/assets/',
    '/assets/none.js',
    '/index.html',
    '/elsewhere',
  ])('SEE-5 nothing else is handed out: %s', async (path) => {
    expect((await dashboard()(path)).status).toBe(404)
  })

  it('SEE-5 the page has no inline script or style, as its content policy asks', async () => {
    const page = await (await dashboard()('/')).text()
    expect(page).not.toMatch(/<style|style="|<script(?![^>]*\bsrc=)|\son\w+=/)
  })
})
