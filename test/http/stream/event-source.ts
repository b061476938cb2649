// Reads server-sent events as a browser does.

export interface Message {
  id: string | null
  event: string
  // oxlint-disable-next-line typescript/no-explicit-any -- an assertion judges it
  data: any
}

export interface EventSourceReader {
  /** The next matching message; others are skipped. */
  next(fits: (message: Message) => boolean): Promise<Message>
  close(): Promise<void>
}

export function readEventSource(response: Response): EventSourceReader {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  async function nextBlock(): Promise<string> {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end !== -1) {
        const block = text.slice(0, end)
        text = text.slice(end + 2)
        return block
      }
      const { done, value } = await reader.read()
      if (done) throw new Error('the stream has ended')
      text += decoder.decode(value, { stream: true })
    }
  }
  return {
    async next(fits) {
      for (;;) {
        const lines = (await nextBlock()).split('\n')
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
        const data = field('data')
        if (data === undefined) continue
        const message: Message = {
          id: field('id') ?? null,
          event: field('event') ?? '',
          data: JSON.parse(data),
        }
        if (fits(message)) return message
      }
    },
    close: () => reader.cancel(),
  }
}
