import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { scriptUrl } from './tools/fixture-tree.ts'

it('SEE-5 the picture of the demo is what its screen draws', async () => {
  const { renderDemoPicture } = (await import(scriptUrl('docs/demo-picture').href)) as {
    renderDemoPicture: () => string
  }
  const picture = readFileSync(new URL('../../../docs/images/demo.svg', import.meta.url), 'utf8')
  // `npm run docs:demo-picture` draws it anew.
  expect(picture).toBe(renderDemoPicture())
})
