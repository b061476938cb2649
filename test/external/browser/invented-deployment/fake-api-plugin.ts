// `npm run dev -w dashboard` works without a server: the invented deployment answers.
import type { Plugin } from 'vite'
import { createFakeHandler } from './fake-server.ts'

export function fakeApi(): Plugin {
  return {
    name: 'fake-api',
    apply: 'serve',
    configureServer({ middlewares }) {
      const handle = createFakeHandler(process.env['FAKE'] === 'empty' ? 'empty' : 'full')
      middlewares.use((request, response, next) => {
        if (request.url?.startsWith('/v1/') === true) void handle(request, response)
        else next()
      })
    },
  }
}
