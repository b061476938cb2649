// Colour on terminals only, and never as the only signal.

export type Colour = 'red' | 'green' | 'yellow' | 'dim' | 'bold' | 'inverse'
export type Paint = (text: string, colour: Colour) => string

type Environment = Readonly<Record<string, string | undefined>>

/** NO_COLOR, then FORCE_COLOR, then whether the stream is a terminal with colour. */
export function hasColour(stream: { isTTY?: boolean }, env: Environment = process.env): boolean {
  const { NO_COLOR: none, FORCE_COLOR: forced, TERM: terminal } = env
  if ((none !== undefined && none !== '') || forced === '0' || forced === 'false') return false
  if (forced !== undefined) return true
  return stream.isTTY === true && terminal !== 'dumb'
}

const codes: Record<Colour, [on: number, off: number]> = {
  bold: [1, 22],
  dim: [2, 22],
  inverse: [7, 27],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
}

export function createPaint(stream: { isTTY?: boolean }, env: Environment = process.env): Paint {
  if (!hasColour(stream, env)) return (text) => text
  return (text, colour) => {
    const [on, off] = codes[colour]
    return `\u001B[${on}m${text}\u001B[${off}m`
  }
}
