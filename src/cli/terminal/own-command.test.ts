import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ownCommand } from './own-command.ts'

it('SEE-5 a command of a checkout is called by its file, one of an installed package by npx', () => {
  const checkout = join('/', 'code', 'unstuck')
  expect(ownCommand(checkout, checkout)).toBe(`node ${join('bin', 'unstuck.js')}`)
  expect(ownCommand(checkout, join('/', 'code', 'app'))).toBe(
    `node ${join('..', 'unstuck', 'bin', 'unstuck.js')}`,
  )
  expect(ownCommand(join('/', 'code', 'app', 'node_modules', 'unstuck'), checkout)).toBe('npx unstuck')
})
