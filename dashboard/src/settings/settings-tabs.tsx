import { useLocation } from 'wouter'
import { Go } from '../shell/address.tsx'

const TABS = [
  { path: '/settings', name: 'Browser and server' },
  { path: '/settings/webhooks', name: 'Webhooks' },
  { path: '/settings/audit', name: 'Audit log' },
]

export function SettingsTabs() {
  const [location] = useLocation()
  return (
    <nav aria-label="Settings">
      <ul className="flex gap-1 overflow-x-auto border-b border-line">
        {TABS.map(({ path, name }) => (
          <li key={path}>
            <Go
              to={path}
              isCurrent={location === path}
              className={`-mb-px flex min-h-9 items-center border-b-2 px-3 whitespace-nowrap ${location === path ? 'border-accent font-medium' : 'border-transparent text-soft hover:text-ink'}`}
            >
              {name}
            </Go>
          </li>
        ))}
      </ul>
    </nav>
  )
}
