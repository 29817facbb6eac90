// Long: needs Authlib, which is written in Python.
import { checkServers } from './checks.ts'
import { startPython } from './own-process.ts'

checkServers({
  name: 'Authlib',
  // version 1.2 decodes nothing, 1.6 all but the `+` for a space
  decodesBasic: undefined,
  knowsClients: true,
  refusal: 'invalid_client',
  issuerPath: '',
  assertions: { algorithms: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'], takesIssuer: false },
  revocation: { path: '/revoke', status: 401 },
  start: (registered, run) =>
    startPython('authlib-server.py', 'python3-authlib python3-flask', registered, run),
})
