import { tokenForm } from '../../src/curl.ts'
import type { IssuerState } from '../../src/index.ts'
import { quoted } from '../../src/in-words.ts'

type Variables = Readonly<Record<string, string>>

/** The environment as the tools of different people take it: each works as it is pasted. */
export const forms: Readonly<
  Record<string, (variables: Variables, general: IssuerState | undefined) => string>
> = {
  shell: exportsOf,
  '.env': (variables) => `# Load this file in a shell: set -a; . ./.env; set +a
# (node --env-file and dotenv come too late for NODE_EXTRA_CA_CERTS.)
${lines(variables, (name, value) => `${name}=${quoted(value)}`)}`,
  Node: (variables) =>
    `// at the top of the program, or in a file for node --import
${lines(variables, (name, value) => `process.env.${name} = ${JSON.stringify(value)}`)}${'NODE_EXTRA_CA_CERTS' in variables ? nodeTrust : ''}`,
  Python: (variables) => `# at the top, before any import that uses TLS
import os

${lines({ ...variables, ...pythonTrust(variables) }, (name, value) => `os.environ[${JSON.stringify(name)}] = ${JSON.stringify(value)}`)}`,
  curl: firstToken,
}

/** A block, so that its names are its own; without imports, so that modules and scripts take it. */
const nodeTrust = `
{
  // Node read NODE_EXTRA_CA_CERTS when it started
  const tls = process.getBuiltinModule('node:tls')
  const ca = process.getBuiltinModule('node:fs').readFileSync(process.env.NODE_EXTRA_CA_CERTS, 'utf8')
  tls.setDefaultCACertificates([...tls.getCACertificates(), ca])
}`

/** OpenSSL, which is below Python's own ssl, and requests. */
function pythonTrust({ NODE_EXTRA_CA_CERTS: ca }: Variables): Variables {
  return ca === undefined ? {} : { SSL_CERT_FILE: ca, REQUESTS_CA_BUNDLE: ca }
}

function lines(variables: Variables, line: (name: string, value: string) => string): string {
  return Object.entries(variables)
    .map(([name, value]) => line(name, value))
    .join('\n')
}

function exportsOf(variables: Variables): string {
  return lines(variables, (name, value) => `export ${name}=${quoted(value)}`)
}

function firstToken(variables: Variables, issuer: IssuerState | undefined): string {
  if (issuer === undefined || !('GENERAL_CLIENT_SECRET' in variables))
    return '# curl cannot sign an assertion'
  const { NODE_EXTRA_CA_CERTS = 'ca.pem' } = variables
  return `${exportsOf({ ...variables, NODE_EXTRA_CA_CERTS })}
curl --tlsv1.2 --cacert "$NODE_EXTRA_CA_CERTS" \\
  ${[issuer.tokenEndpoint, ...tokenForm('general', issuer)].join(' \\\n  ')}`
}
