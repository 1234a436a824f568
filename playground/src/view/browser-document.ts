/** Returns an empty document apart from the page's own, for charts; in Node, `linkedom` makes it. */
export const parseHTML = (): { readonly document: Document } => ({
  document: document.implementation.createHTMLDocument(),
});
