/** Says of a box that scrolls where more of it is, which `theme.css` shows at that edge. */

import { useEffect } from "preact/hooks";

/** Keeps `data-more-end` and `data-more-below` of a box true, as it is scrolled and filled. */
export function useMore(box: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = () => mark(element);
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    for (const child of element.children) sizes.observe(child);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", look);
    };
  });
}

function mark(element: HTMLElement): void {
  const right = element.scrollWidth - element.clientWidth - element.scrollLeft;
  const below = element.scrollHeight - element.clientHeight - element.scrollTop;
  // Positions are rounded, so that a pixel may be left at the end.
  element.toggleAttribute("data-more-end", right > 1);
  element.toggleAttribute("data-more-below", below > 1);
}
