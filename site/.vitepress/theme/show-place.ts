// The sidebar is longer than the window: it scrolls to the page that is read.

/** Scrolls the sidebar to the link of this page, unless it is in sight; also while it is a closed drawer. */
export function showPlace(): void {
  // by then the links know which of them is this page's, and the groups that hold it are open
  requestAnimationFrame(() => {
    const sidebar = document.querySelector('.VPSidebar')
    const link = sidebar?.querySelector('.is-active > .item > .link')
    if (sidebar === null || link == null) return
    const [frame, place] = [sidebar.getBoundingClientRect(), link.getBoundingClientRect()]
    if (place.top >= frame.top && place.bottom <= frame.bottom) return
    sidebar.scrollTop += place.top - frame.top - (sidebar.clientHeight - place.height) / 2
  })
}
