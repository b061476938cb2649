import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { formatProblem, loadCheck, scriptUrl } from './fixture-tree.ts'

const check = await loadCheck('check/links')

describe('check-links', () => {
  it('follows files, folders, images and headings', () => {
    const problems = check({
      'README.md': [
        '# Front',
        '[page](docs/page.md), [heading](docs/page.md#what-a-stop-does), [function](docs/page.md#claim_jobs)',
        '[folder](docs), ![picture](docs/a.png), [here](#front), [elsewhere](https://example.com/none)',
        '[second](docs/page.md#claim_jobs-1) <img src="docs/a.png">',
      ].join('\n'),
      'docs/page.md':
        '# What a stop does\n\n### `claim_jobs`\n\n### `claim_jobs`\n[back](../README.md#front)',
      'docs/a.png': '',
    })
    expect(problems).toEqual([])
  })

  it('names files of the code that do not exist, on the pages about it', () => {
    const text = 'See `claim_jobs.sql`, `src/job/job.ts`, `job.ts` and `gone.sql`.'
    expect(
      check({
        'ARCHITECTURE.md': text,
        'docs/page.md': text,
        'sql/functions/claim_jobs.sql': '',
        'src/job/job.ts': '',
      }),
    ).toEqual(['ARCHITECTURE.md:1 names gone.sql, which does not exist'])
  })

  it('names what is missing, with its line', () => {
    const problems = check({
      'a.md': [
        '# A',
        '[a text over',
        'two lines](b.md) ![gone](c.png)',
        '[no heading](a.md#b) <a href="d.html">',
        '[absolute](/a.md)',
        '[outside](../x.md)',
        '[defined]: e.md',
      ].join('\n'),
    })
    expect(problems).toEqual([
      'a.md:3 links to b.md, which does not exist',
      'a.md:3 links to c.png, which does not exist',
      'a.md:4 links to a.md#b, and a.md has no such heading',
      'a.md:4 links to d.html, which does not exist',
      'a.md:5 links to /a.md, which is not a relative path',
      'a.md:6 links to ../x.md, which is outside the repository',
      'a.md:7 links to e.md, which does not exist',
    ])
  })

  it('leaves code alone', () => {
    const problems = check({ 'a.md': '```md\n# B\n[x](y.md)\n```\n`[x](y.md)` [b](#b)' })
    expect(problems).toEqual(['a.md:5 links to #b, and a.md has no such heading'])
  })

  it('finds nothing in this repository', async () => {
    const { findProblems } = (await import(scriptUrl('check/links').href)) as {
      findProblems: (root: string) => Parameters<typeof formatProblem>[0][]
    }
    const root = fileURLToPath(new URL('../../../../', import.meta.url))
    expect(findProblems(root).map(formatProblem)).toEqual([])
  })
})
