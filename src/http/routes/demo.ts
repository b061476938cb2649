// What `unstuck demo` adds to its own server: buttons that kill its workers. Behind the same guards as every other write.
import type { Api } from '../api.ts'
import type { DemoControls } from '../app-options.ts'
import { ApiProblem } from '../problem.ts'

export function addDemoRoutes(api: Api, demo: DemoControls): void {
  api.get('/demo', (c) => c.json({ acts: demo.acts }))
  api.post('/demo/:act', (c) => {
    const name = c.req.param('act')
    if (!demo.perform(name))
      throw new ApiProblem(
        'NOT_FOUND',
        `no such act; there are ${demo.acts.map((act) => act.name).join(', ')}`,
      )
    return c.json({ act: name }, 202)
  })
}
