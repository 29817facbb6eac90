// What the command line allows: apart from the commands, which are loaded when one of them runs.

/** How `token` can print a token. */
export const tokenForms = ['token', 'header', 'env', 'json', 'exec-credential', 'git-credential'] as const

/** How a client can prove itself, those with the least to set up first. */
export const clientAuthentications = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'tls_client_auth',
] as const
