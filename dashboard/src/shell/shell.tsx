// The frame of every page: navigation, top bar, banners, health strip.
import { type ReactNode, useState } from 'react'
import { useLocation } from 'wouter'
import { useConfig } from '../api/queries.ts'
import { Toasts } from '../ui/toast.tsx'
import { Go } from './address.tsx'
import { Banners } from './banners.tsx'
import { DemoControls } from './demo-controls.tsx'
import { pages } from './pages-list.ts'
import { PromiseStrip } from './promise-strip.tsx'
import { TopBar } from './top-bar.tsx'

export function Shell({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[13rem_minmax(0,1fr)]">
      <button
        type="button"
        className="sr-only z-50 rounded bg-accent-fill px-3 py-2 text-white focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
        onClick={() => document.querySelector<HTMLElement>('main h1')?.focus()}
      >
        Skip to content
      </button>
      <Navigation isOpen={isOpen} close={() => setOpen(false)} />
      <div className="flex min-h-dvh min-w-0 flex-col">
        <TopBar openMenu={() => setOpen(!isOpen)} isMenuOpen={isOpen} />
        <Banners />
        <PromiseStrip />
        <DemoControls />
        <main className="mx-auto w-full max-w-[1440px] grow p-4 md:p-6">{children}</main>
      </div>
      <Toasts />
    </div>
  )
}

function Navigation({ isOpen, close }: { isOpen: boolean; close: () => void }) {
  const [location] = useLocation()
  const config = useConfig()
  return (
    <nav
      aria-label="Pages"
      className={`${isOpen ? 'flex' : 'hidden'} flex-col border-line bg-panel p-3 max-md:border-b md:sticky md:top-0 md:flex md:h-dvh md:border-r`}
    >
      <div className="flex items-center gap-2.5 px-2 pt-1 pb-4">
        <Logo />
        <span className="text-base font-semibold tracking-tight">unstuck</span>
      </div>
      <ul className="flex flex-col gap-0.5">
        {pages.map(({ path, name, icon, key }) => {
          const isCurrent = path === '/' ? location === '/' : location.startsWith(path)
          const look = isCurrent
            ? 'bg-raised font-medium text-ink'
            : 'text-soft hover:bg-raised hover:text-ink'
          return (
            <li key={path}>
              <Go
                to={path}
                isCurrent={isCurrent}
                onClick={close}
                className={`group flex min-h-9 items-center gap-2.5 rounded-md px-2.5 ${look}`}
              >
                <svg
                  viewBox="0 0 20 20"
                  className={`size-4 shrink-0 fill-none stroke-current stroke-[1.6] ${isCurrent ? 'text-accent' : ''}`}
                  aria-hidden="true"
                >
                  <path d={icon} strokeLinecap="round" strokeLinejoin="round" />
                </svg>
                <span className="grow">{name}</span>
                <span aria-hidden="true" className="font-mono text-[11px] opacity-0 group-hover:opacity-100">
                  g {key}
                </span>
              </Go>
            </li>
          )
        })}
      </ul>
      {config.data === undefined ? null : (
        <p className="mt-auto hidden px-2.5 pt-4 text-xs text-soft md:block">
          {config.data.profile} · {config.data.schema}
          <br />
          version {config.data.version}
        </p>
      )}
    </nav>
  )
}

function Logo() {
  return (
    <svg viewBox="0 0 32 32" className="size-7" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0f766e" />
      <rect x="7" y="8" width="18" height="4" rx="2" fill="#fff" />
      <rect x="7" y="14" width="12" height="4" rx="2" fill="#99f6e4" />
      <rect x="7" y="20" width="6" height="4" rx="2" fill="#fbbf24" />
    </svg>
  )
}
