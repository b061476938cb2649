import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isUnstuckError } from '../../errors/index.ts'
import { defineConfig, loadConfig, readConfigFile } from '../index.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unstuck-config-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

const write = (name: string, text: string) => writeFileSync(join(folder, name), text)

function refusal(given?: string): string {
  try {
    loadConfig({ env: {}, file: readConfigFile(folder, given) })
  } catch (error) {
    if (isUnstuckError(error, 'INVALID_CONFIG')) return error.message
    throw error
  }
  return expect.unreachable('was not refused')
}

describe('readConfigFile', () => {
  it('OPS-8 answers nothing where the folder has no config file', () => {
    expect(readConfigFile(folder)).toBeUndefined()
    expect(loadConfig({ env: {}, file: readConfigFile(folder) }).schema).toBe('unstuck')
  })

  it.each([
    ['unstuck.config.mjs', "export default { schema: 'mine', policy: { maxAttempts: 7 } }"],
    ['unstuck.config.cjs', "module.exports = { schema: 'mine', policy: { maxAttempts: 7 } }"],
    ['unstuck.config.js', "module.exports = { schema: 'mine', policy: { maxAttempts: 7 } }"],
    ['unstuck.config.cjs', "exports.default = { schema: 'mine', policy: { maxAttempts: 7 } }"],
  ])('OPS-8 reads %s at once, and its values have the source file', (name, text) => {
    write(name, text)
    const config = loadConfig({ env: { JOB_MAX_ATTEMPTS: '2' }, file: readConfigFile(folder) })
    expect(config).toMatchObject({ schema: 'mine', enqueueMaxAttempts: 2 })
    expect(config.values).toContainEqual(
      expect.objectContaining({ name: 'schema', value: 'mine', source: 'file' }),
    )
  })

  it('OPS-8 reads a file that was named, from the folder or from the root, and refuses one that is not there', () => {
    write('other.mjs', "export default { schema: 'named' }")
    write('unstuck.config.mjs', "export default { schema: 'found' }")
    expect(readConfigFile(folder, 'other.mjs')).toEqual({ schema: 'named' })
    expect(readConfigFile('/', join(folder, 'other.mjs'))).toEqual({ schema: 'named' })
    expect(refusal('missing.mjs')).toBe(
      '--config or UNSTUCK_CONFIG: got "missing.mjs", takes a file that exists',
    )
  })

  it('OPS-8 refuses a folder and nothing as the name of a file', () => {
    expect(refusal('.')).toContain('takes a file that exists')
    expect(refusal('')).toContain('takes a file that exists')
  })

  it('OPS-8 refuses two config files in one folder, for one of them would have no effect', () => {
    write('unstuck.config.mjs', 'export default {}')
    write('unstuck.config.cjs', 'module.exports = {}')
    expect(refusal()).toContain('unstuck.config.mjs and unstuck.config.cjs')
  })

  const readsTypes = Boolean((process.features as { typescript?: unknown }).typescript)
  it.each(['unstuck.config.ts', 'unstuck.config.mts'])(
    'OPS-8 reads %s where the runtime takes types, else says what it needs and another name',
    (name) => {
      write(name, "interface A { schema: string }\nconst file: A = { schema: 'typed' }\nexport default file")
      if (readsTypes) expect(readConfigFile(folder)).toEqual({ schema: 'typed' })
      else expect(refusal()).toBe(`${name} needs Node 22.18 or Bun; name it unstuck.config.mjs`)
    },
  )

  it('OPS-8 says of a file that cannot be loaded which one it is and why', () => {
    write('await.mjs', 'await null\nexport default {}')
    write('throws.mjs', "throw new Error('no such secret')")
    write('syntax.mjs', 'export default {')
    write('nothing.mjs', 'export const schema = 1')
    write('function.mjs', 'export default () => ({})')
    expect(refusal('await.mjs')).toBe('await.mjs: a config file may not use top-level await')
    expect(refusal('throws.mjs')).toBe('throws.mjs: no such secret')
    expect(refusal('syntax.mjs')).toMatch(/^syntax\.mjs: /)
    expect(refusal('nothing.mjs')).toContain('an object as its default export')
    expect(refusal('function.mjs')).toContain('an object as its default export')
  })

  it('OPS-8 names the field that was probably meant, in the file and in its policy', () => {
    write('unstuck.config.mjs', 'export default { workerConcurency: 3, policy: { maxAttemps: 3 } }')
    const message = refusal()
    expect(message).toContain('did you mean workerConcurrency?')
    expect(message).toContain('did you mean maxAttempts?')
  })

  it('OPS-8 defineConfig answers what it is given', () => {
    const file = { policy: { maxAttempts: 3 } }
    expect(defineConfig(file)).toBe(file)
  })
})
