import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { TcpProxy } from '../../../chaos/src/faults/tcp-proxy.ts'

const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

/** A server that echoes every request, followed by the end of a PostgreSQL response. */
async function openProxy() {
  const requests: string[] = []
  const sessions: Socket[] = []
  const server = createServer((socket) => {
    sessions.push(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      requests.push(chunk.toString())
      socket.write(Buffer.concat([chunk, READY]))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = new TcpProxy((server.address() as AddressInfo).port)
  const port = await proxy.listen()
  cleanUps.push(
    () => proxy.close(),
    () => server.close(),
  )
  return { proxy, port, requests, sessions }
}

async function openClient(port: number) {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  await once(socket, 'connect')
  const answers: string[] = []
  // Not once(): a reset is an error to it.
  const next = (name: 'data' | 'close') => new Promise((resolve) => socket.once(name, resolve))
  const closed = next('close')
  socket.on('data', (chunk) => answers.push(chunk.toString()))
  cleanUps.push(() => socket.destroy())
  const ask = async (text: string) => {
    socket.write(text)
    await Promise.race([next('data'), closed])
  }
  return { socket, answers, closed, ask }
}

describe('the proxy of a worker', () => {
  it('refuses new connections and lets the others be', async () => {
    const { proxy, port } = await openProxy()
    const early = await openClient(port)
    await early.ask('select 1')
    proxy.refuse()
    const late = connect({ port, host: '127.0.0.1' })
    late.on('error', () => {})
    await new Promise((resolve) => late.once('close', resolve))
    await early.ask('select 2')
    expect(early.answers).toHaveLength(2)
    proxy.heal()
    const healed = await openClient(port)
    await healed.ask('select 3')
    expect(healed.answers).toHaveLength(1)
  })

  it('passes requests and answers on', async () => {
    const { port, requests } = await openProxy()
    const client = await openClient(port)
    await client.ask('select')
    expect(requests).toEqual(['select'])
    expect(client.answers.join('')).toContain('select')
  })

  it('loses the answer to a request that the server has carried out, and the connection with it', async () => {
    const { proxy, port, requests } = await openProxy()
    const client = await openClient(port)
    let lost = 0
    proxy.loseAnswerTo('commit', () => lost++)
    await client.ask('begin')
    expect(lost).toBe(0)
    await client.ask('commit')
    await client.closed
    expect(requests).toEqual(['begin', 'commit'])
    expect(client.answers.join('')).not.toContain('commit')
    expect(lost).toBe(1)
  })

  it('swallows everything in a blackhole, and ends what was in it when it heals', async () => {
    const { proxy, port, requests } = await openProxy()
    const client = await openClient(port)
    await client.ask('before')
    proxy.blackhole()
    client.socket.write('lost')
    const late = await openClient(port)
    late.socket.write('lost too')
    proxy.heal()
    await Promise.all([client.closed, late.closed])
    expect(requests).toEqual(['before'])
    const next = await openClient(port)
    await next.ask('after')
    expect(requests).toEqual(['before', 'after'])
  })

  it('ends the side of the server alone where it is half open', async () => {
    const { proxy, port, sessions } = await openProxy()
    const client = await openClient(port)
    await client.ask('before')
    const [session] = sessions
    const ended = session === undefined ? Promise.reject(new Error('no session')) : once(session, 'close')
    proxy.halfOpen()
    await ended
    expect(client.socket.destroyed).toBe(false)
  })

  it('sends what it has delayed at once when it heals, in its order', async () => {
    const { proxy, port, requests } = await openProxy()
    const client = await openClient(port)
    await client.ask('before')
    proxy.delay(600_000)
    client.socket.write('one')
    const seen = once(client.socket, 'data')
    // The proxy has read it once it answers a second, later connection: both share its event loop.
    await openClient(port)
    proxy.heal()
    await seen
    expect(requests).toEqual(['before', 'one'])
  })
})
