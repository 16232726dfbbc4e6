//! The short text form of an action, which replays and the referee's logs also use.

use std::error;
use std::fmt;
use std::str::FromStr;

use crate::v1::action::Action as Kind;
use crate::v1::{
    Action, Area, BuildCount, BuyerColour, ChooseBuyer, ChooseSpace, Colour, Decline, ExtendTower,
    FoundTower, KeepLitWindows, LayBuyers, LightWindow, PayOffer, ReturnLitWindow, SearchPile,
    Section, SectionKind, Space, TakeSection, Wish,
};

const LONGEST_NUMBER: usize = 4;

const VERBS: [&str; 14] = [
    "dispatch", "lay", "take", "decline", "build", "found", "extend", "light", "search", "pay",
    "keep", "wish", "choose", "return",
];

const AREAS: [(&str, Area); 12] = [
    ("base-market", Area::BaseMarket),
    ("trunk-market", Area::TrunkMarket),
    ("window-market", Area::WindowMarket),
    ("turret-market", Area::TurretMarket),
    ("circle", Area::BuildingCircle),
    ("bank", Area::Bank),
    ("coloured-building", Area::ColouredBuilding),
    ("spies", Area::HouseOfSpies),
    ("patronage", Area::CaliphsPatronage),
    ("tent", Area::Tent),
    ("lit-windows", Area::HouseOfLightedWindows),
    ("genie", Area::HouseOfTheBottleGenie),
];

const COLOURS: [(&str, Colour); 5] = [
    ("brown", Colour::Brown),
    ("green", Colour::Green),
    ("red", Colour::Red),
    ("black", Colour::Black),
    ("white", Colour::White),
];

const BUYERS: [(&str, BuyerColour); 5] = [
    ("blue", BuyerColour::Blue),
    ("yellow", BuyerColour::Yellow),
    ("purple", BuyerColour::Purple),
    ("green", BuyerColour::Green),
    ("orange", BuyerColour::Orange),
];

const KINDS: [(&str, SectionKind); 4] = [
    ("base", SectionKind::Base),
    ("trunk", SectionKind::Trunk),
    ("window", SectionKind::Window),
    ("turret", SectionKind::Turret),
];

/// Returns the text of an action, such as `dispatch bank 12` or `take red trunk gold`.
///
/// An action with no member set reads `no action`; enum values unknown to this version read as
/// numbers. [`Action`] also implements [`Display`](fmt::Display) with this text.
pub fn format_action(action: &Action) -> String {
    action.to_string()
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.action {
            Some(Kind::ChooseSpace(choose)) => write!(f, "dispatch {}", space(&choose.space)),
            Some(Kind::LayBuyers(lay)) => {
                f.write_str("lay")?;
                for buyer in &lay.buyers {
                    write!(f, " {}", word(&BUYERS, *buyer))?;
                }
                f.write_str(flag(lay.face_down, " face-down"))
            }
            Some(Kind::TakeSection(take)) => write!(f, "take {}", section(&take.section)),
            Some(Kind::Decline(_)) => f.write_str("decline"),
            Some(Kind::BuildCount(build)) => write!(f, "build {}", build.count),
            Some(Kind::FoundTower(found)) => {
                let base = flag(found.base_gold, " gold-base");
                let turret = flag(found.turret_gold, " gold-turret");
                write!(f, "found {}{base}{turret}", word(&COLOURS, found.colour))
            }
            Some(Kind::ExtendTower(extend)) => {
                write!(f, "extend {} {}", extend.tower, section(&extend.section))
            }
            Some(Kind::LightWindow(light)) => {
                write!(f, "light {}{}", light.tower, flag(light.gold, " gold"))
            }
            Some(Kind::SearchPile(search)) => write!(f, "search {}", word(&KINDS, search.kind)),
            Some(Kind::PayOffer(pay)) => write!(f, "pay {}", pay.asari),
            Some(Kind::KeepLitWindows(keep)) => {
                f.write_str("keep")?;
                for colour in &keep.colours {
                    write!(f, " {}", word(&COLOURS, *colour))?;
                }
                Ok(())
            }
            Some(Kind::Wish(wish)) => write!(f, "wish {}", space(&wish.space)),
            Some(Kind::ChooseBuyer(choose)) => {
                write!(f, "choose {}", word(&BUYERS, choose.buyer))
            }
            Some(Kind::ReturnLitWindow(window)) => {
                write!(f, "return {}", word(&COLOURS, window.colour))
            }
            None => f.write_str("no action"),
        }
    }
}

fn space(space: &Option<Space>) -> String {
    let space = space.unwrap_or_default();
    format!("{} {}", word(&AREAS, space.area), space.number)
}

fn section(section: &Option<Section>) -> String {
    let section = section.unwrap_or_default();
    let (colour, kind) = (word(&COLOURS, section.colour), word(&KINDS, section.kind));
    format!("{colour} {kind}{}", flag(section.gold, " gold"))
}

fn flag(set: bool, word: &str) -> &str {
    if set {
        word
    } else {
        ""
    }
}

fn word<E: Copy + Into<i32>>(words: &[(&str, E)], number: i32) -> String {
    let found = words.iter().find(|(_, value)| (*value).into() == number);
    found.map_or_else(|| number.to_string(), |(word, _)| (*word).into())
}

/// The text of an action is wrong; names the word.
#[derive(Clone, Debug, PartialEq)]
pub struct ParseActionError(String);

impl fmt::Display for ParseActionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl error::Error for ParseActionError {}

/// Returns the action of a text form, the inverse of [`format_action`].
///
/// # Errors
///
/// For any other text; the error names the wrong word.
pub fn parse_action(text: &str) -> Result<Action, ParseActionError> {
    text.parse()
}

impl FromStr for Action {
    type Err = ParseActionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = |fault: String| ParseActionError(format!("action '{text}': {fault}"));
        let canonical = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut words = Words(canonical.split_whitespace().collect());
        let action = Action {
            action: Some(words.take_action().map_err(fault)?),
        };
        if let Some(rest) = words.0.first() {
            return Err(fault(format!("unexpected '{rest}'")));
        }
        let written = action.to_string();
        if written != canonical {
            return Err(fault(format!("not in canonical form; write '{written}'")));
        }
        Ok(action)
    }
}

/// The words of an action that have not been read.
struct Words<'a>(Vec<&'a str>);

impl Words<'_> {
    fn next(&mut self) -> &str {
        if self.0.is_empty() {
            return "";
        }
        self.0.remove(0)
    }

    fn take_action(&mut self) -> Result<Kind, String> {
        Ok(match self.next() {
            "dispatch" => Kind::ChooseSpace(ChooseSpace {
                space: Some(self.take_space()?),
            }),
            "lay" => Kind::LayBuyers(self.take_lay()?),
            "take" => Kind::TakeSection(TakeSection {
                section: Some(self.take_section()?),
            }),
            "decline" => Kind::Decline(Decline {}),
            "build" => Kind::BuildCount(BuildCount {
                count: self.take_number("a number")?,
            }),
            "found" => Kind::FoundTower(FoundTower {
                colour: self.take_colour()?,
                base_gold: self.take_flag("gold-base"),
                turret_gold: self.take_flag("gold-turret"),
            }),
            "extend" => Kind::ExtendTower(ExtendTower {
                tower: self.take_number("a number")?,
                section: Some(self.take_section()?),
            }),
            "light" => Kind::LightWindow(LightWindow {
                tower: self.take_number("a number")?,
                gold: self.take_flag("gold"),
            }),
            "search" => Kind::SearchPile(SearchPile {
                kind: self.take(&KINDS, "section kind")?,
            }),
            "pay" => Kind::PayOffer(PayOffer {
                asari: self.take_number("a number")?,
            }),
            "keep" => Kind::KeepLitWindows(self.take_keep()?),
            "wish" => Kind::Wish(Wish {
                space: Some(self.take_space()?),
            }),
            "choose" => Kind::ChooseBuyer(ChooseBuyer {
                buyer: self.take(&BUYERS, "buyer")?,
            }),
            "return" => Kind::ReturnLitWindow(ReturnLitWindow {
                colour: self.take_colour()?,
            }),
            verb => return Err(format!("no verb '{verb}'; one of {}", VERBS.join(", "))),
        })
    }

    fn take<E: Copy + Into<i32>>(
        &mut self,
        words: &[(&str, E)],
        what: &str,
    ) -> Result<i32, String> {
        let word = self.next();
        if let Some((_, value)) = words.iter().find(|(name, _)| *name == word) {
            return Ok((*value).into());
        }
        if word.is_empty() {
            return Err(format!("a {what} is missing"));
        }
        let names: Vec<_> = words.iter().map(|(name, _)| *name).collect();
        Err(format!("no {what} '{word}'; one of {}", names.join(", ")))
    }

    fn take_number(&mut self, what: &str) -> Result<i32, String> {
        let word = self.next();
        if word.is_empty() {
            return Err(format!("{what} is missing"));
        }
        let decimal = word.bytes().all(|byte| byte.is_ascii_digit());
        match word.parse() {
            Ok(number) if decimal && word.len() <= LONGEST_NUMBER => Ok(number),
            _ => Err(format!("'{word}' is not {what}")),
        }
    }

    fn take_flag(&mut self, word: &str) -> bool {
        let found = self.0.first() == Some(&word);
        if found {
            self.next();
        }
        found
    }

    fn take_colour(&mut self) -> Result<i32, String> {
        self.take(&COLOURS, "colour")
    }

    fn take_space(&mut self) -> Result<Space, String> {
        Ok(Space {
            area: self.take(&AREAS, "area")?,
            number: self.take_number("the number of a space")?,
        })
    }

    fn take_section(&mut self) -> Result<Section, String> {
        Ok(Section {
            colour: self.take_colour()?,
            kind: self.take(&KINDS, "section kind")?,
            gold: self.take_flag("gold"),
        })
    }

    fn take_lay(&mut self) -> Result<LayBuyers, String> {
        let mut buyers = vec![];
        while self.0.first().is_some_and(|word| *word != "face-down") {
            buyers.push(self.take(&BUYERS, "buyer")?);
        }
        let face_down = self.take_flag("face-down");
        if buyers.is_empty() || buyers.len() > 1 + usize::from(face_down) {
            return Err("lay one buyer, or two face-down".into());
        }
        buyers.sort_unstable();
        Ok(LayBuyers { buyers, face_down })
    }

    fn take_keep(&mut self) -> Result<KeepLitWindows, String> {
        let mut colours = vec![self.take_colour()?];
        while !self.0.is_empty() {
            colours.push(self.take_colour()?);
        }
        colours.sort_unstable();
        Ok(KeepLitWindows { colours })
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::vectors::{hex, read};

    #[test]
    fn texts_agree_with_the_vectors() {
        let vectors = read("actions.json");
        let pairs = |name: &str| {
            let rows = vectors[name].as_array().unwrap().clone();
            rows.into_iter().map(|row| {
                let action = Action::decode(hex(&row["hex"]).as_slice()).unwrap();
                (row["text"].as_str().unwrap().to_string(), action)
            })
        };
        for (text, action) in pairs("actions") {
            assert_eq!(format_action(&action), text);
            assert_eq!(parse_action(&text), Ok(action));
        }
        for (text, action) in pairs("unparsable") {
            assert_eq!(format_action(&action), text);
            assert!(parse_action(&text).is_err(), "{text}");
        }
        for text in vectors["invalid"].as_array().unwrap() {
            assert!(parse_action(text.as_str().unwrap()).is_err(), "{text}");
        }
    }

    #[test]
    fn errors_name_the_wrong_word() {
        let text = |action| parse_action(action).unwrap_err().to_string();
        assert!(text("sell red").starts_with("action 'sell red': no verb 'sell'; one of dispatch"));
        assert_eq!(
            text("build three"),
            "action 'build three': 'three' is not a number"
        );
        assert_eq!(
            text("dispatch spies"),
            "action 'dispatch spies': the number of a space is missing"
        );
        assert_eq!(
            text("keep white red"),
            "action 'keep white red': not in canonical form; write 'keep red white'"
        );
    }
}
