// Pages in navigation order, with the key after `g`.
export const pages = [
  { path: '/', name: 'Now', key: 'n', icon: 'M3 6h14M3 10h9M3 14h5' },
  { path: '/jobs', name: 'Jobs', key: 'j', icon: 'M4 4h12v3H4zM4 9h12v3H4zM4 14h12v2H4z' },
  { path: '/queues', name: 'Queues', key: 'q', icon: 'M3 5h10M3 10h14M3 15h7' },
  { path: '/dead-letters', name: 'Dead letters', key: 'd', icon: 'M3 5h14v10H3zM3 5l7 6 7-6' },
  { path: '/workers', name: 'Workers', key: 'w', icon: 'M4 4h12v5H4zM4 11h12v5H4zM7 6.5h.01M7 13.5h.01' },
  {
    path: '/dependencies',
    name: 'Dependencies',
    key: 'p',
    icon: 'M7 3v5M13 3v5M5 8h10v3a5 5 0 0 1-10 0zM10 16v2',
  },
  { path: '/reaper', name: 'Reaper', key: 'r', icon: 'M16 10a6 6 0 1 1-2-4.5M16 3v4h-4' },
  { path: '/doctor', name: 'Doctor', key: 'o', icon: 'M2 10h4l2-5 4 10 2-5h4' },
  { path: '/settings', name: 'Settings', key: 's', icon: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4' },
] as const

/** Not in the navigation: reached from other pages and the palette. */
export const innerPages = [
  { path: '/operations', name: 'Operations' },
  { path: '/settings/webhooks', name: 'Webhooks' },
  { path: '/settings/audit', name: 'Audit log' },
] as const
