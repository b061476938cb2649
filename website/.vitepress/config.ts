import { slug } from 'github-slugger'
import { defineConfig } from 'vitepress'
import { linkOtherFiles } from '../link-other-files.ts'
import { boostDocument } from '../search.mjs'
import { addressOf, repositoryPages, sidebar } from '../sidebar.ts'
import { writeLlmsFiles } from '../write-llms-files.ts'

const base = process.env['DOCS_BASE'] ?? '/'

// Pages outside of this folder do not find its packages; server-rendered code runs from this folder, where Node finds them.
const findVue = {
  name: 'find-vue',
  enforce: 'pre' as const,
  resolveId: (id: string, _importer: string | undefined, { ssr = false }: { ssr?: boolean }) =>
    ssr && /^vue(?:\/server-renderer)?$/.test(id) ? { id, external: true } : null,
}

export default defineConfig({
  title: 'unstuck',
  description: 'No job stays stuck in processing: leases, heartbeats and a reaper for PostgreSQL job tables.',
  lang: 'en',
  // No icon: a browser would request a missing one.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // The Markdown of the repository in place, so that links work here and in an editor.
  srcDir: '..',
  srcExclude: ['test/**', 'website/**', ...repositoryPages],
  outDir: './dist',
  rewrites: { 'README.md': 'index.md' },
  markdown: {
    languageAlias: { postgresql: 'sql' },
    // As on GitHub, so that a link works here and there.
    anchor: { slugify: (heading) => slug(heading.trim()) },
    config: linkOtherFiles,
  },
  vite: { plugins: [findVue] },
  base,
  cleanUrls: false,
  lastUpdated: false,
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: { boostDocument },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'My job is stuck', link: '/docs/start/my-job-is-stuck' },
      { text: 'Quickstart', link: '/docs/start/quickstart' },
      { text: 'Compare', link: '/docs/compare' },
      { text: 'API', link: '/docs/reference/api' },
      { text: 'Reference', link: '/docs/reference/' },
    ],
    sidebar: sidebar.map(({ title, pages }) => ({
      text: title,
      collapsed: title !== 'Start',
      items: pages.map((page) => ({ text: page.title, link: `/${addressOf(page)}` })),
    })),
  },
  buildEnd: ({ outDir }) => writeLlmsFiles(outDir, base),
})
