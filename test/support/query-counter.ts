// Between a program and PostgreSQL: passes everything on, and counts the statements that the program sends.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface QueryCounter {
  /** Address that counts, in front of the database. */
  url: string
  /** Simple queries, and executions of the extended protocol. */
  count(): number
  close(): Promise<void>
}

export async function countQueries(databaseUrl: string): Promise<QueryCounter> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let count = 0
  const server = createServer((incoming) => {
    const outgoing = connect(Number(target.port), target.hostname)
    const onMessage = (type: string) => {
      if (type === 'Q' || type === 'E') count += 1
    }
    const read = messageReader(onMessage)
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.once('close', () => {
        incoming.destroy()
        outgoing.destroy()
      })
    }
    incoming.on('data', (chunk: Buffer) => {
      read(chunk)
      outgoing.write(chunk)
    })
    outgoing.pipe(incoming)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    count: () => count,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The first message has a length and no type; each later one a type, then its length. */
function messageReader(onMessage: (type: string) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  let isStarted = false
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = isStarted ? 1 : 0
      if (rest.length < head + 4) return
      const length = head + rest.readInt32BE(head)
      if (rest.length < length) return
      if (isStarted) onMessage(String.fromCharCode(rest[0] ?? 0))
      isStarted = true
      rest = rest.subarray(length)
    }
  }
}
