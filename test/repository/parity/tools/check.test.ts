import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeTree, scriptUrl } from './fixture-tree.ts'

interface Step {
  name: string
  command: string
  args: string[]
}

const { runSteps } = (await import(scriptUrl('check').href)) as {
  runSteps: (steps: Step[], root: string, print: (text: string) => void) => Promise<boolean>
}

function nodeStep(name: string, code: string): Step {
  return { name, command: process.execPath, args: ['-e', code] }
}

async function run(steps: Step[], root = makeTree({})) {
  const printed: string[] = []
  const isGreen = await runSteps(steps, root, (text) => printed.push(text))
  return { isGreen, output: printed.join('').replace(/ +\d+\.\d s/g, ' TIME') }
}

it('steps that pass print a line each and nothing else', async () => {
  expect(await run([nodeStep('format', 'console.log("noise")'), nodeStep('sql home', '')])).toEqual({
    isGreen: true,
    output: '✓ format TIME\n✓ sql home TIME\n',
  })
})

it('a step that fails shows its output, and the rest still run', async () => {
  const broken = nodeStep('types', 'console.log("a.ts:1"); console.error("broken"); process.exit(2)')
  expect(await run([broken, nodeStep('tidy', '')])).toEqual({
    isGreen: false,
    output: expect.stringMatching(
      /^✗ types TIME\n(a\.ts:1\nbroken|broken\na\.ts:1)\n✓ tidy TIME\n$/,
    ) as string,
  })
})

it('a tool that is not installed fails by name', async () => {
  const root = makeTree({})
  const command = join(root, 'node_modules', '.bin', 'tsc')
  expect(await run([{ name: 'types', command, args: [] }], root)).toEqual({
    isGreen: false,
    output: `✗ types TIME\n${command} is missing: run npm ci\n`,
  })
})
