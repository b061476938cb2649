import { describe, expect, it } from 'vitest'
import { loadCheck } from './fixture-tree.ts'

const check = await loadCheck('check/tidy')
const lines = (count: number) => 'x()\n'.repeat(count)

it('a tidy tree passes', () => {
  expect(
    check({
      'README.md': '# unstuck',
      'docs/adr/0001-sql-first.md': 'See src/work/home.ts and https://example.org/home/page.',
      'sql/functions/claim_jobs.sql': 'create function claim_jobs() as $$\nbegin\nend $$;',
      'sql/schema.snapshot.sql': lines(900),
      'src/job/job-state.ts': `${lines(340)}// ${'TO'}DO(#12) narrow this`,
      'src/job/job-state.test.ts': `it('x', () => {\n${lines(400)}})`,
      'src/store/conformance/lifecycle/claim.ts': `export function suite() {\n${lines(400)}}`,
      'node_modules/x/lib/utils.ts': lines(900),
      'dist/Big.js': lines(900),
    }),
  ).toEqual([])
})

describe('sizes', () => {
  it('a file over 350 lines is refused, a test over 450', () => {
    expect(
      check({
        'src/a.ts': lines(351),
        'sql/b.sql': lines(351),
        'src/c.test.ts': lines(450),
        'test/d.ts': lines(451),
      }),
    ).toEqual([
      'sql/b.sql:351 has 351 lines, over 350',
      'src/a.ts:351 has 351 lines, over 350',
      'test/d.ts:451 has 451 lines, over 450',
    ])
  })

  it('a function over 70 lines is refused, in TypeScript and in SQL', () => {
    expect(
      check({
        'src/a.ts': `\nfunction long() {\n${lines(69)}}\nconst arrow = () => {\n${lines(69)}}\nfunction fits() {\n${lines(68)}}`,
        'sql/b.sql': `create function b() returns int as $$\n${lines(71)}$$;`,
        'sql/c.sql': `create function c() returns int as $$\n${lines(70)}$$;`,
      }),
    ).toEqual([
      'sql/b.sql:1 b has 71 lines, over 70',
      'src/a.ts:2 long has 71 lines, over 70',
      'src/a.ts:73 arrow has 71 lines, over 70',
    ])
  })
})

describe('names', () => {
  it.each([
    'src/jobState.ts',
    'src/JobState.tsx',
    'src/job_state.ts',
    'docs/Guide.md',
    'sql/functions/ClaimJobs.sql',
  ])('%s is not kebab-case', (path) => {
    expect(check({ [path]: '' })).toEqual([`${path}:1 is not a kebab-case name`])
  })

  it.each([
    'src/utils.ts',
    'src/lib/a.ts',
    'src/common/a.ts',
    'src/lease-manager.ts',
    'test/sql-helpers.ts',
    'src/job/types.ts',
  ])('%s says nothing', (path) => {
    expect(check({ [path]: '' })).toEqual([expect.stringMatching(/is named "\w+", which says nothing$/)])
  })
})

describe('remarks', () => {
  it('a to-do needs an issue number', () => {
    expect(
      check({ 'src/a.ts': `// ${'TO'}DO later\n// ${'FIX'}ME #7 soon`, 'sql/b.sql': `-- ${'FIX'}ME` }),
    ).toEqual([
      'sql/b.sql:1 has a to-do without an issue number',
      'src/a.ts:1 has a to-do without an issue number',
    ])
  })

  it('a lint exception needs a reason', () => {
    const exception = `// ${'oxlint'}-disable-next-line no-console`
    expect(check({ 'src/a.ts': `${exception}\n${exception} -- the command talks here` })).toEqual([
      'src/a.ts:1 switches a lint rule off without "-- reason"',
    ])
  })

  it('a test that is switched off or singled out needs a reason', () => {
    const content = [
      "it.skip('a', () => {})",
      "describe.only('b', () => {})",
      "it.concurrent.skip('c', () => {})",
      "it.skip('d', () => {}) // PostgreSQL 14 has no MERGE",
      '// PostgreSQL 14 has no MERGE',
      "it.skip('e', () => {})",
      "const text = `it.skip('f')`",
      'list.skip(1)',
    ]
    expect(check({ 'test/a.test.ts': content.join('\n') })).toEqual([
      'test/a.test.ts:1 uses .skip() without a comment that says why',
      'test/a.test.ts:2 uses .only() without a comment that says why',
      'test/a.test.ts:3 uses .skip() without a comment that says why',
    ])
  })
})

describe('what belongs to one machine', () => {
  it.each(['work', 'home', 'root', 'Users'])('an absolute path below %s is refused', (folder) => {
    expect(check({ 'docs/a.md': `See \`${['', folder, 'me'].join('/')}\`.` })).toEqual([
      'docs/a.md:1 has an absolute path of one machine',
    ])
  })

  it('the address of a registry is refused', () => {
    expect(check({ '.ci/run.sh': `curl https://${['registry', 'npmjs'].join('.')}.org/pg` })).toEqual([
      '.ci/run.sh:1 names a package registry',
    ])
  })

  it('a lockfile may resolve links to workspaces, and nothing else', () => {
    const lockfile = (entries: object) => JSON.stringify({ packages: entries }, null, 2)
    const link = {
      'node_modules/@unstuck/embedded': { resolved: 'embedded', link: true },
      'node_modules/pg': { version: '8.0.0' },
    }
    expect(check({ 'package-lock.json': lockfile(link) })).toEqual([])
    const fixed = { 'node_modules/pg': { version: '8.0.0', resolved: 'https://mirror.example/pg-8.0.0.tgz' } }
    expect(check({ 'package-lock.json': lockfile(fixed) })).toEqual([
      'package-lock.json:5 node_modules/pg has a "resolved" address',
    ])
  })

  it('a lockfile lists the optional packages of every platform', () => {
    const lockfile = (binaries: object) =>
      JSON.stringify({
        packages: {
          'node_modules/bundler': { version: '1.0.0', optionalDependencies: { '@bundler/darwin': '1.0.0' } },
          ...binaries,
        },
      })
    const darwin = { version: '1.0.0', optional: true, os: ['darwin'] }
    expect(check({ 'package-lock.json': lockfile({ 'node_modules/@bundler/darwin': darwin }) })).toEqual([])
    const nested = { 'node_modules/bundler/node_modules/@bundler/darwin': darwin }
    expect(check({ 'package-lock.json': lockfile(nested) })).toEqual([])
    expect(check({ 'package-lock.json': lockfile({}) })).toEqual([
      'package-lock.json:1 @bundler/darwin has no entry: it would be missing on its platform',
    ])
  })
})
