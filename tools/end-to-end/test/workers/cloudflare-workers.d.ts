declare module 'cloudflare:workers' {
  export const env: object
}
