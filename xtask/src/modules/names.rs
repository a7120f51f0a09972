//! The names that a module defines, imports and uses, and where each of them is defined.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Item, UseTree};

/// The limit of re-exports through which a name is followed.
const MOST_HOPS: usize = 16;

/// The path of a module below the root of its crate; empty for the root.
pub(super) type ModulePath = Vec<String>;

/// A module's source, without its tests.
#[derive(Default)]
pub(super) struct Module {
    /// Names that `use` imports, with their paths.
    imports: BTreeMap<String, Vec<String>>,
    /// Paths of glob imports.
    globs: Vec<Vec<String>>,
    /// Items that the module itself defines.
    items: BTreeSet<String>,
    /// All paths in the module's code and imports, except plain re-exports.
    paths: BTreeSet<Vec<String>>,
}

/// The modules of one crate.
pub(super) struct Crate {
    pub(super) modules: BTreeMap<ModulePath, Module>,
}

impl Module {
    pub(super) fn parse(text: &str) -> syn::Result<Self> {
        let mut module = Self::default();
        module.visit_file(&syn::parse_file(text)?);
        Ok(module)
    }

    fn add_use(&mut self, tree: &UseTree, before: &[String], is_reexport: bool) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, &with(&path.ident), is_reexport),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_use(tree, before, is_reexport));
            }
            UseTree::Glob(_) => {
                self.globs.push(before.to_vec());
                self.name(before.to_vec(), is_reexport);
            }
            UseTree::Name(name) if name.ident == "self" => {
                if let Some(last) = before.last() {
                    self.imports.insert(last.clone(), before.to_vec());
                }
                self.name(before.to_vec(), is_reexport);
            }
            UseTree::Name(name) => {
                self.imports.insert(name.ident.to_string(), with(&name.ident));
                self.name(with(&name.ident), is_reexport);
            }
            UseTree::Rename(rename) => {
                self.imports.insert(rename.rename.to_string(), with(&rename.ident));
                self.name(with(&rename.ident), is_reexport);
            }
        }
    }

    fn name(&mut self, path: Vec<String>, is_reexport: bool) {
        if !is_reexport {
            self.paths.insert(path);
        }
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            Item::Mod(item) => (&item.attrs, None),
            Item::Use(item) => (&item.attrs, None),
            Item::Impl(item) => (&item.attrs, None),
            _ => return,
        };
        let is_test = |attribute: &syn::Attribute| {
            let condition = attribute.path().is_ident("cfg").then(|| attribute.meta.require_list().ok());
            condition.flatten().is_some_and(|list| list.tokens.to_string() == "test")
        };
        if attributes.iter().any(is_test) {
            return;
        }
        self.items.extend(name.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_reexport = !matches!(item.vis, syn::Visibility::Inherited);
        self.add_use(&item.tree, &[], is_reexport);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        // A single name is local or imported.
        if segments.len() > 1 {
            self.paths.insert(segments);
        }
        visit::visit_path(self, path);
    }
}

impl Crate {
    /// Returns each pair of a module and another module that it names.
    pub(super) fn dependencies(&self) -> BTreeSet<(ModulePath, ModulePath)> {
        let targets = |(from, module): (&ModulePath, &Module)| {
            let paths = module.paths.iter().filter_map(|path| self.resolve(from, path, 0));
            paths.map(|to| (from.clone(), to)).collect::<Vec<_>>()
        };
        self.modules.iter().flat_map(targets).filter(|(from, to)| from != to).collect()
    }

    /// Returns the module that defines the item at `path`, as seen from the module `from`, or `None` for items of other
    /// crates.
    fn resolve(&self, from: &[String], path: &[String], hops: usize) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Vec::new(),
            "self" => from.to_vec(),
            "super" => from.split_last()?.1.to_vec(),
            name => return self.lookup(from, name, rest, hops),
        };
        match rest.split_first() {
            None => Some(start),
            Some((name, _)) if name == "super" => self.resolve(&start, rest, hops),
            Some((name, rest)) => self.lookup(&start, name, rest, hops),
        }
    }

    /// Returns the module that defines the item at `name::rest`, as seen from `at`.
    fn lookup(&self, at: &[String], name: &str, rest: &[String], hops: usize) -> Option<ModulePath> {
        if hops > MOST_HOPS {
            return None;
        }
        let child = [at, &[name.to_owned()]].concat();
        if self.modules.contains_key(&child) {
            return match rest.split_first() {
                None => Some(child),
                Some((name, rest)) => self.lookup(&child, name, rest, hops),
            };
        }
        let module = self.modules.get(at)?;
        if module.items.contains(name) {
            return Some(at.to_vec());
        }
        if let Some(target) = module.imports.get(name) {
            return self.resolve(at, &[target.as_slice(), rest].concat(), hops + 1);
        }
        module.globs.iter().find_map(|glob| {
            let path = [glob.as_slice(), &[name.to_owned()], rest].concat();
            self.resolve(at, &path, hops + 1).filter(|found| found != at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Crate, Module};

    fn dependencies(files: &[(&str, &str)]) -> Vec<String> {
        let split =
            |path: &str| path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let modules = files.iter().map(|(path, text)| (split(path), Module::parse(text).unwrap())).collect();
        let found = Crate { modules }.dependencies();
        found.iter().map(|(from, to)| format!("{} > {}", from.join("::"), to.join("::"))).collect()
    }

    #[test]
    fn names_are_followed_through_re_exports() {
        let files = [
            ("", "mod a; mod b; pub use a::Name;"),
            ("a", "mod deep; pub use deep::*;"),
            ("a::deep", "pub struct Name;"),
            ("b", "use crate::Name; fn f() { crate::a::deep::g(); std::mem::drop(1) }"),
        ];
        assert_eq!(dependencies(&files), ["b > a::deep"]);
    }

    #[test]
    fn tests_are_ignored() {
        let files = [
            ("", "mod a; mod b;"),
            ("a", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("b", "use super::a::A; pub struct B;"),
        ];
        assert_eq!(dependencies(&files), ["b > a"]);
    }
}
