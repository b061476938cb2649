import { once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { sendAtOnce } from './no-delay.ts'

afterEach(() => vi.restoreAllMocks())

async function listen(): Promise<number> {
  const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as { port: number }).port
}

async function isSentAtOnce(port: number): Promise<boolean> {
  const setNoDelay = vi.spyOn(Socket.prototype, 'setNoDelay')
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
  return setNoDelay.mock.contexts.includes(socket) && setNoDelay.mock.lastCall?.[0] === true
}

it('WORK-1 what goes to the port of a Neo4j server is sent at once, and other connections are left alone', async () => {
  const [port, other] = [await listen(), await listen()]
  sendAtOnce(port)
  expect([await isSentAtOnce(port), await isSentAtOnce(other)]).toEqual([true, false])
})
