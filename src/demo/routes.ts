// Routes that only the server of `unstuck demo` has: its buttons kill real workers.
import type { Api } from '../http/api.ts'
import { ApiProblem } from '../http/problem.ts'

export interface DemoControls {
  acts: readonly { name: string; title: string }[]
  /** False if no act has this name. */
  perform(name: string): boolean
}

export function addDemoRoutes(api: Api, demo: DemoControls): void {
  api.get('/demo', (c) => c.json({ acts: demo.acts }))
  api.post('/demo/:act', (c) => {
    const name = c.req.param('act')
    if (!demo.perform(name))
      throw new ApiProblem('NOT_FOUND', `unknown act; use ${demo.acts.map((act) => act.name).join(', ')}`)
    return c.json({ act: name }, 202)
  })
}
