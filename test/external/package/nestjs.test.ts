// The guide for NestJS, compiled and run as a Nest project is: CommonJS, with decorators and their metadata.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { compile, installProject, root, run } from './packed.ts'

const NEST = ['common', 'core', 'testing'].map((name) => `@nestjs/${name}@11`)

const packed = inject('packed')

it('the module, the service and the test of the guide compile, and a job runs', async () => {
  const page = readFileSync(join(root, 'docs/guides/interfaces/nestjs.md'), 'utf8')
  const blocks = [...page.matchAll(/^```typescript\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)]
  expect(blocks.map(([, name]) => name)).toEqual(['jobs.module.ts', 'mail.ts', 'mail.test.ts'])
  const packages = [packed.core, ...NEST, 'reflect-metadata@0.2', 'rxjs@7', '@types/node@20']
  const project = await installProject(packed.home, packages, 'commonjs')
  mkdirSync(join(project, 'src'))
  for (const [, name = '', code = ''] of blocks) writeFileSync(join(project, 'src', name), code)
  const out = await compile(project, "import './mail.test.js'\n", {
    module: 'nodenext',
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    isolatedModules: true,
    // As Nest's own template has it.
    skipLibCheck: true,
  })
  const { stdout } = await run(process.execPath, [join(out, 'main.js')], { cwd: project })
  expect(stdout).toContain('sent to ana@example.com')
  expect(stdout).toContain('{ completed: 1 }')
})
