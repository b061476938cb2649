// A TCP proxy between one worker and PostgreSQL that can drop, delay and reset connections.
import { once, setMaxListeners } from 'node:events'
import { type AddressInfo, createServer, connect as openSocket, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type ProxyMode = 'pass' | 'blackhole' | 'delay' | 'refuse'

/** ReadyForQuery, the last message of every response, without the transaction status byte. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5])
/** A response in several packets is complete by then. */
const LATE_PART_MS = 300

class Link {
  readonly client: Socket
  readonly upstream: Socket
  /** Drops bytes in both directions. The client's side stays open until the proxy is healed. */
  isSilent = false
  losesAnswer = false
  onLost: (() => void) | undefined
  #sent: Promise<void> = Promise.resolve()

  constructor(client: Socket, upstream: Socket) {
    this.client = client
    this.upstream = upstream
  }

  lose() {
    this.onLost?.()
    this.onLost = undefined
    this.reset()
  }

  reset() {
    this.client.resetAndDestroy()
    this.upstream.destroy()
  }

  /**
   * Keeps the order of chunks. `hurry` ends pending delays when the fault is over.
   */
  send(to: Socket, chunk: Buffer, delayMs: number, hurry: AbortSignal) {
    const write = () => {
      if (!this.isSilent && !to.destroyed) to.write(chunk)
    }
    if (delayMs === 0 && this.#isIdle) return write()
    this.#isIdle = false
    const sent = this.#sent
      .then(() => sleep(delayMs, undefined, { signal: hurry }))
      .catch(() => {})
      .then(() => {
        write()
        if (this.#sent === sent) this.#isIdle = true
      })
    this.#sent = sent
  }
  #isIdle = true
}

export class TcpProxy {
  #mode: ProxyMode = 'pass'
  #delayMs = 0
  #hurry = new AbortController()
  #links: Set<Link> = new Set()
  #armed: { text: string; onLost: () => void } | undefined
  #server: Server
  #targetPort

  constructor(targetPort: number) {
    this.#targetPort = targetPort
    this.#server = createServer((client) => this.#accept(client))
  }

  set targetPort(port: number) {
    this.#targetPort = port
  }

  async listen() {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Local ports of the connections to the server. They identify its sessions. */
  upstreamPorts() {
    return [...this.#links].flatMap(({ upstream }) =>
      upstream.localPort === undefined ? [] : [upstream.localPort],
    )
  }

  blackhole() {
    this.#mode = 'blackhole'
    for (const link of this.#links) link.isSilent = true
  }

  delay(delayMs: number) {
    this.#mode = 'delay'
    this.#delayMs = delayMs
    this.#hurry = new AbortController()
    // Every delayed chunk listens to it.
    setMaxListeners(0, this.#hurry.signal)
  }

  /** Closes new connections at once, and lets the others be. */
  refuse() {
    this.#mode = 'refuse'
  }

  /** Closes the server's side; the client notices nothing. */
  halfOpen() {
    for (const link of this.#links) {
      link.isSilent = true
      link.upstream.destroy()
    }
  }

  reset() {
    const count = this.#links.size
    for (const link of this.#links) link.reset()
    return count
  }

  /**
   * Forwards the next request that contains the text and resets the connection instead of returning the response. An empty
   * text matches any request.
   */
  loseAnswerTo(text: string, onLost: () => void) {
    this.#armed = { text, onLost }
  }

  disarm() {
    this.#armed = undefined
  }

  heal() {
    this.#mode = 'pass'
    this.#armed = undefined
    this.#hurry.abort()
    for (const link of this.#links) if (link.isSilent) link.reset()
  }

  close() {
    this.#server.close()
    for (const link of this.#links) link.reset()
  }

  #accept(client: Socket) {
    if (this.#mode === 'refuse') {
      client.on('error', () => {})
      client.resetAndDestroy()
      return
    }
    const upstream = openSocket({ port: this.#targetPort, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    const link = new Link(client, upstream)
    link.isSilent = this.#mode === 'blackhole'
    this.#links.add(link)
    client.on('data', (chunk) => this.#toServer(link, chunk))
    upstream.on('data', (chunk) => this.#toClient(link, chunk))
    client.on('error', () => {})
    upstream.on('error', () => {})
    client.on('close', () => {
      this.#links.delete(link)
      upstream.destroy()
    })
    upstream.on('close', () => {
      if (!link.isSilent) client.destroy()
    })
  }

  #toServer(link: Link, chunk: Buffer) {
    if (link.isSilent) return
    const armed = this.#armed
    if (armed !== undefined && chunk.includes(armed.text)) {
      this.#armed = undefined
      link.losesAnswer = true
      link.onLost = armed.onLost
    }
    link.send(link.upstream, chunk, this.#mode === 'delay' ? this.#delayMs : 0, this.#hurry.signal)
  }

  #toClient(link: Link, chunk: Buffer) {
    if (link.isSilent) return
    if (!link.losesAnswer)
      return link.send(link.client, chunk, this.#mode === 'delay' ? this.#delayMs : 0, this.#hurry.signal)
    // The server has committed by now. Losing more than this response would hang the connection, which is another fault.
    if (chunk.includes(READY)) link.lose()
    else setTimeout(() => link.lose(), LATE_PART_MS).unref()
  }
}
