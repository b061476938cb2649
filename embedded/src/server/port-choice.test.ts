import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, expect, it, vi } from 'vitest'
import { startPostgres } from '../start-postgres.ts'
import { freePort } from './free-port.ts'

vi.mock('./free-port.ts', { spy: true })
// Other files of this process have imported the real one, and will again.
vi.hoisted(() => vi.resetModules())
afterAll(() => void vi.resetModules())

it('chooses another port when the free one was taken before the server could bind it', async () => {
  const squatter = createServer().listen(0, '127.0.0.1')
  await once(squatter, 'listening')
  const address = squatter.address()
  const taken = typeof address === 'object' && address !== null ? address.port : Number.NaN
  vi.mocked(freePort).mockResolvedValueOnce(taken)
  const lines: string[] = []
  await using server = await startPostgres({ persistent: false, onLog: (line) => lines.push(line) })
  squatter.close()
  expect(lines.join('\n')).toContain('Address already in use')
  expect(server.port).not.toBe(taken)
}, 120_000)
