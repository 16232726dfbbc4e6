//! Shortcuts to the two halves of a view.

use std::sync::LazyLock;

use crate::v1::{Decision, PrivateView, PublicView, View};

static NOTHING_PRIVATE: LazyLock<PrivateView> = LazyLock::new(PrivateView::default);
static NOTHING_PUBLIC: LazyLock<PublicView> = LazyLock::new(PublicView::default);

impl Decision {
    /// The board, the displays, the towers and prestige of all seats; empty if it was omitted.
    pub fn public_view(&self) -> &PublicView {
        let view = self.view.as_ref();
        view.map_or(&NOTHING_PUBLIC, View::public_view)
    }

    /// Your purse, hand and sections, and a pile while you search it.
    pub fn private_view(&self) -> &PrivateView {
        let view = self.view.as_ref();
        view.map_or(&NOTHING_PRIVATE, View::private_view)
    }
}

impl View {
    /// The board, the displays, the towers and prestige of all seats; empty if it was omitted.
    pub fn public_view(&self) -> &PublicView {
        self.public_view.as_ref().unwrap_or(&NOTHING_PUBLIC)
    }

    /// Your purse, hand and sections, and a pile while you search it.
    pub fn private_view(&self) -> &PrivateView {
        self.private_view.as_ref().unwrap_or(&NOTHING_PRIVATE)
    }
}
