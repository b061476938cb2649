// The demo in a pseudo-terminal: the screen, the keys, and the terminal afterwards.
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { noTerminal, openTerminal, type TerminalOptions } from '../cli/support/pseudo-terminal.ts'

const LIMIT_MS = 120_000
const openDemo = (options: TerminalOptions) => openTerminal(['demo', '--no-serve', '--seed', '5'], options)

// Without python3 there is no pseudo-terminal.
describe.skipIf(noTerminal !== null)('unstuck demo in a terminal', () => {
  it('SEE-5 draws both sides, reads keys, and restores the terminal', {
    timeout: LIMIT_MS,
  }, async () => {
    const terminal = openDemo({ columns: 80, rows: 24 })
    await terminal.shown('HAND-ROLLED')
    terminal.type('k')
    await terminal.shown('▶ kill -9 a worker')
    await terminal.shown('after its last heartbeat')
    terminal.type('q')
    expect(await terminal.ended).toBe(0)
    const [during = '', after = '', ...more] = terminal.raw().split('\u001B[?1049l')
    expect(more).toEqual([])
    expect(during).toContain('\u001B[?1049h')
    expect(after).toMatch(/\d+ jobs in · \d+ done · 0 lost · 0 finished twice/)
    expect(after).toContain('Next:  node bin/unstuck.js scan')
  })

  it('SEE-5 has no colours where NO_COLOR is set, and Ctrl-C ends it at once', {
    timeout: LIMIT_MS,
  }, async () => {
    const terminal = openDemo({ env: { NO_COLOR: '1' } })
    await terminal.shown('HAND-ROLLED')
    terminal.type('\u0003')
    expect(await terminal.ended).toBe(130)
    expect(terminal.raw()).not.toContain('\u001B[1m')
    expect(terminal.raw().trimEnd().endsWith('\u001B[?1049l')).toBe(true)
  })

  it('SEE-5 prints plain lines if the terminal is too small, and still reads keys', {
    timeout: LIMIT_MS,
  }, async () => {
    const terminal = openDemo({ columns: 60, rows: 15 })
    await terminal.shown('q quit')
    terminal.type('F')
    await terminal.shown('SIGSTOP')
    // A longer line would be broken inside a word.
    const lines = stripVTControlCharacters(terminal.raw()).split('\r\n')
    expect(lines.filter((line) => line.length > 60)).toEqual([])
    expect(terminal.raw()).not.toContain('\u001B[?1049h')
    terminal.type('q')
    await terminal.shown('no more jobs')
    terminal.type('q')
    expect(await terminal.ended).toBe(130)
  })
})
