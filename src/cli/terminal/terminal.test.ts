import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { describe, expect, it } from 'vitest'
import { createPaint, hasColour } from './colour.ts'
import { safeJson } from './escape-controls.ts'
import { leaseBar, showsUnicode } from './lease-bar.ts'
import { cutText, fitText, renderLine, wrapText } from './line.ts'
import { openScreen, readKeys } from './screen.ts'

describe('colour', () => {
  it.each([
    ['a terminal', { isTTY: true }, {}, true],
    ['a pipe', {}, {}, false],
    ['NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }, false],
    ['an empty NO_COLOR', { isTTY: true }, { NO_COLOR: '' }, true],
    ['FORCE_COLOR', {}, { FORCE_COLOR: '1' }, true],
    ['FORCE_COLOR=0', { isTTY: true }, { FORCE_COLOR: '0' }, false],
    ['both', {}, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    ['TERM=dumb', { isTTY: true }, { TERM: 'dumb' }, false],
  ])('OPS-8 %s decides', (_, stream, env, expected) => {
    expect(hasColour(stream, env)).toBe(expected)
    expect(createPaint(stream, env)('x', 'red') !== 'x').toBe(expected)
  })
})

describe('lines', () => {
  const plain = (text: string) => text

  it('SEE-5 a line is cut to its width, whatever its colours', () => {
    expect(renderLine(['abc', ['defg', 'red'], 'h'], 5, plain)).toBe('abcd…')
    expect(renderLine(['abc', ['de', 'red']], 5, createPaint({}, { FORCE_COLOR: '1' }))).toBe(
      'abc\u001B[31mde\u001B[39m',
    )
    expect(cutText('äöü😀x', 4)).toBe('äöü…')
    expect(fitText('ab', 4)).toBe('ab  ')
    expect(cutText('x', 0)).toBe('')
  })

  it('SEE-9 a text is wrapped between words, and only a word that fits no line is broken', () => {
    expect(wrapText('  7.1 s  job 5 is rescued', 16, 9)).toEqual([
      '  7.1 s  job 5',
      '         is',
      '         rescued',
    ])
    expect(wrapText('abcdefgh ij', 4)).toEqual(['abcd', 'efgh', 'ij'])
    expect(wrapText('fits', 4)).toEqual(['fits'])
  })

  it('SEE-5 escape sequences, line ends and bidirectional controls of a job are escaped', () => {
    expect(renderLine(['a\u001B[2J\u0007\r\n\u0000\u007F\u009B'], 80, plain)).toBe(
      String.raw`a\x1b[2J\x07\r\n\x00\x7f\x9b`,
    )
    expect(cutText('x\u202Egpj.exe\u2066\u2028', 80)).toBe(String.raw`x\u202egpj.exe\u2066\u2028`)
    expect(fitText('a\nb', 5)).toBe(String.raw`a\nb `)
    expect(cutText('Zoë 😀 👩‍💻 עברית \\n', 80)).toBe('Zoë 😀 👩‍💻 עברית \\n')
  })

  it('SEE-5 JSON keeps its values where their controls are escaped', () => {
    const value = { text: 'a\u001B\u007F\u009B\u202E\u2028\n', more: ['é', '\\u202e'] }
    const json = safeJson(value)
    expect(json).toMatch(/^[\u0020-\u007Eé]*$/u)
    expect(JSON.parse(json)).toEqual(value)
  })
})

describe('lease bars', () => {
  it.each([
    [1, '▮▮▮▮', 'green'],
    [0.4, '▮▮▯▯', 'yellow'],
    [0.01, '▮▯▯▯', 'red'],
    [-0.1, '✕▯▯▯', 'red'],
  ])('SEE-5 a share of %d is %s', (share, bar, colour) => {
    expect(leaseBar(share, 4, true)).toEqual([bar, colour])
  })

  it('SEE-5 the locale decides about the characters', () => {
    expect(leaseBar(0.5, 4, false)[0]).toBe('##..')
    expect(showsUnicode({ LANG: 'en_US.UTF-8' })).toBe(true)
    expect(showsUnicode({ TERM: 'dumb', LANG: 'C.UTF-8' })).toBe(false)
    expect(showsUnicode({ LC_ALL: 'C', LANG: 'en_US.UTF-8' })).toBe(process.platform === 'win32')
  })
})

describe('keys', () => {
  it('SEE-5 several keys of one read are separated, and unknown sequences skipped', () => {
    expect(readKeys('a\u001B[A\u001B[B\r\u007F\u0003')).toEqual([
      'a',
      'up',
      'down',
      'enter',
      'backspace',
      'ctrl-c',
    ])
    expect(readKeys('\u001B')).toEqual(['escape'])
    expect(readKeys('\u001B[3~\u001BOPé😀')).toEqual(['é', '😀'])
  })
})

describe('the screen', () => {
  const open = () => {
    const input = new PassThrough() as unknown as ReadStream
    const output = new PassThrough() as unknown as WriteStream
    const keys: string[] = []
    const screen = openScreen({ onKey: (key) => keys.push(key), onSignal: () => {}, input, output })
    return { input, output, keys, screen, written: () => String(output.read() ?? '') }
  }

  it('SEE-5 is left as it was found, once', () => {
    const listeners = () => ['exit', 'SIGTERM', 'SIGINT', 'SIGHUP'].map((name) => process.listenerCount(name))
    const before = listeners()
    const { screen, written } = open()
    expect(written()).toContain('\u001B[?1049h\u001B[?25l')
    screen.close()
    screen.close()
    screen.draw(['too late'])
    expect(written()).toBe('\u001B[?25h\u001B[?1049l')
    expect(listeners()).toEqual(before)
  })

  it('SEE-5 draws what changed only, and no more lines than there are', () => {
    const { screen, written } = open()
    written()
    screen.draw(['a', 'b'])
    expect(written()).toContain('a')
    screen.draw(['a', 'b'])
    expect(written()).toBe('')
    screen.draw(Array.from({ length: 100 }, () => 'line'))
    expect(written().match(/line/g)).toHaveLength(24)
    screen.close()
  })

  it('SEE-5 hears keys until it is closed', async () => {
    const { input, keys, screen } = open()
    input.emit('data', Buffer.from('a\u001B[A'))
    screen.close()
    input.emit('data', Buffer.from('b'))
    expect(keys).toEqual(['a', 'up'])
  })
})
